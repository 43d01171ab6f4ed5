import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Runs `test/fixtures/<name>` in a process of its own, on the built package as users have it, and
 * returns what it printed, parsed as JSON. Rejects where it fails or prints to stderr.
 */
export async function runFixture<T>(
  name: string,
  args: readonly (string | number)[] = [],
): Promise<T> {
  const path = fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--expose-gc',
    path,
    ...args.map(String),
  ]);
  if (stderr !== '') throw new Error(`${name} printed to stderr: ${stderr}`);
  return JSON.parse(stdout) as T;
}
