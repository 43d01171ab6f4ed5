import { spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/**
 * The shell becomes the program (so its pid is the program's) after leaving a guard behind. The
 * guard reads a pipe from us: a line means the program ended in good order; end of file means we
 * died, however it happened, and then it kills the program and removes its folder. The pipe is not
 * stdin, because Node closes that by itself when the program ends, which would look like our death.
 */
const GUARD = `
dir=$1; shift
( read -r line <&3 || { kill -KILL $$; rm -rf -- "$dir"; } ) >/dev/null 2>&1 &
exec "$@" 3<&-
`;

/** What `stdio` below makes of stdin, stdout, stderr and the guard's pipe. */
type Pipes = [null, Readable, Readable, Writable, ...unknown[]];

/** How much of what a program printed is kept for error messages, in characters. */
const KEPT_OUTPUT = 8_000;

/** A program that does not outlive this process. */
export interface GuardedProcess {
  readonly pid: number;
  /** How it ended, `exit code 1` or `signal SIGKILL`; undefined while it runs. */
  readonly ending: string | undefined;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<void>;
  /** The last of what it printed to stdout and stderr. */
  output(): string;
  /** Sends a signal; nothing happens where it has ended. */
  signal(name: NodeJS.Signals): void;
}

/**
 * Starts a program that dies when this process dies, even by SIGKILL; `folder` is then removed
 * with it. It runs in a session of its own, so Ctrl-C reaches it only through us, and it does not
 * keep this process alive. Linux and macOS; needs `sh`. A program that cannot be started ends at
 * once, with the reason in its output.
 */
export function spawnGuarded(
  program: string,
  args: readonly string[],
  folder: string,
): Promise<GuardedProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', GUARD, 'sh', folder, program, ...args], {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    const [, stdout, stderr, guard] = child.stdio as Pipes;
    let printed = '';
    let ending: string | undefined;
    for (const stream of [stdout, stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        printed = (printed + text).slice(-KEPT_OUTPUT);
      });
    }
    const ended = new Promise<void>((done) => {
      child.once('close', (code, signal) => {
        ending = signal === null ? `exit code ${code}` : `signal ${signal}`;
        done();
      });
    });
    child.once('exit', () => guard.end('ended\n'));
    guard.on('error', () => {}); // it is gone already: nothing left to tell it
    child.on('error', reject);
    child.once('spawn', () => {
      for (const handle of [child, stdout, stderr, guard]) unref(handle);
      resolve({
        pid: child.pid as number,
        get ending() {
          return ending;
        },
        ended,
        output: () => printed.trim(),
        signal: (name) => void child.kill(name),
      });
    });
  });
}

/** Pipes of a child are sockets that can be let go, which their declared type leaves out. */
function unref(handle: unknown): void {
  (handle as { unref(): void }).unref();
}
