import { createHmac, randomBytes } from 'node:crypto';

/** Of this process alone: another replica masks the same key in another way. */
const SECRET = randomBytes(32);

/** Tells this process from others, to whoever reads several in turn. */
export const REPLICA: string = randomBytes(3).toString('hex');

/** What stands for a key where keys are not shown: its first two characters and six hex digits. */
export function maskKey(key: string): string {
  const digits = createHmac('sha256', SECRET).update(key).digest('hex').slice(0, 6);
  return `${[...key].slice(0, 2).join('')}…${digits}`;
}
