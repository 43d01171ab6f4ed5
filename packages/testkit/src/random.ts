import { randomBytes } from 'node:crypto';

/** A key prefix nobody else uses, so that tests can share one server: `t3f9c0a1b2d4e:`. */
export function randomPrefix(): string {
  return `t${randomBytes(6).toString('hex')}:`;
}
