/**
 * Runs programs for the other scripts. Every program gets a process group of its own, and what is
 * sent to us (Ctrl-C too) is passed on to that whole group, so nothing is left behind.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** A program had this long to end after a signal; then its group is killed. */
const END_TIMEOUT_MS = 10_000;
/** Terminal and npm both deliver one Ctrl-C; a second signal counts only after this long. */
const SAME_PRESS_MS = 1_000;

/** A program ended badly; `output` is what it printed, empty where it printed to the terminal. */
export class CommandFailed extends Error {
  constructor(message, { code, output = '' }) {
    super(message);
    this.code = code;
    this.output = output;
  }
}

/** The pids that lead the groups of the programs now running. */
const leaders = new Set();
let interruption;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (interruption === undefined) {
      interruption = { signal, atMs: performance.now() };
      signalAll(signal);
      setTimeout(() => signalAll('SIGKILL'), END_TIMEOUT_MS).unref();
      if (leaders.size === 0) process.exit(exitCodeOf(signal));
    } else if (performance.now() - interruption.atMs > SAME_PRESS_MS) {
      signalAll('SIGKILL');
    }
  });
}
process.on('SIGWINCH', () => signalAll('SIGWINCH'));
process.on('exit', () => signalAll('SIGKILL'));

function signalAll(signal) {
  for (const pid of leaders) signalGroup(pid, signal);
}

function signalGroup(leader, signal) {
  try {
    process.kill(-leader, signal);
  } catch {
    // Nobody is left in the group.
  }
}

function exitCodeOf(signal) {
  return 128 + constants.signals[signal];
}

/**
 * Runs a program to its end and resolves to `{ code, output }`. `quiet` collects what it prints in
 * `output` instead of showing it. A program that cannot be started, or that ends because we were
 * interrupted, is a `CommandFailed`; a code other than 0 is not.
 */
export function run(program, args, { env = process.env, cwd, quiet = false } = {}) {
  return new Promise((resolve, reject) => {
    const stdio = quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit';
    const child = spawn(program, args, { cwd, env, stdio, detached: true });
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => chunks.push(chunk));
    }
    child.once('error', (error) => {
      reject(new CommandFailed(`cannot run ${program}: ${error.message}`, { code: 127 }));
    });
    child.once('spawn', () => leaders.add(child.pid));
    child.once('exit', () => {
      signalGroup(child.pid, 'SIGKILL'); // what it started and did not end
      leaders.delete(child.pid);
    });
    child.once('close', (code, signal) => {
      const output = Buffer.concat(chunks).toString();
      if (interruption !== undefined) {
        const why = `${program} ended after ${interruption.signal}`;
        reject(new CommandFailed(why, { code: exitCodeOf(interruption.signal) }));
      } else {
        resolve({ code: code ?? exitCodeOf(signal), output });
      }
    });
  });
}

/** As `run` with `quiet`, resolving to the output; a code other than 0 is a `CommandFailed`. */
export async function runQuietly(program, args, options = {}) {
  const { code, output } = await run(program, args, { ...options, quiet: true });
  if (code === 0) return output;
  throw new CommandFailed(`${[program, ...args].join(' ')} ended with code ${code}`, {
    code,
    output,
  });
}

/**
 * One line on stderr for one step of work: its label, and when it is done the time it took and
 * what `work` resolved to, if that is a string. stdout stays clean for `--json`.
 */
export async function step(label, work) {
  const startMs = performance.now();
  const took = () => `${((performance.now() - startMs) / 1000).toFixed(1)} s`;
  process.stderr.write(`${label} ... `);
  try {
    const note = await work();
    process.stderr.write(`${typeof note === 'string' ? `${note}, ` : ''}${took()}\n`);
  } catch (error) {
    process.stderr.write(`failed after ${took()}\n`);
    throw error;
  }
}

/**
 * Runs a script's `main` and ends the process with the code it resolves to. A failure is shown on
 * stderr, then `afterFailure` is called and the failure's own code is used; an interruption is not
 * a failure.
 */
export async function runMain(main, afterFailure = () => {}) {
  try {
    process.exitCode = await main();
  } catch (error) {
    const known = error instanceof CommandFailed;
    process.exitCode = known && error.code > 0 ? error.code : 1;
    if (interruption !== undefined) return;
    process.stderr.write(known ? `${error.output}\n${error.message}\n` : `\n${error.stack}\n`);
    afterFailure();
  }
}

/** The arguments a user gave after `--`, with or without npm having removed the `--` itself. */
export function userArguments() {
  const args = process.argv.slice(2);
  return args[0] === '--' ? args.slice(1) : args;
}
