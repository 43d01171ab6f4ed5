/**
 * The program of the process of one replica: a limiter on its own connection, and its load. It does
 * as its parent says, and ends with the channel between them.
 */
import { on } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../fleet-simulation/random.js';
import { nowMs } from './clock.js';
import { Load } from './load.js';
import type { ReplicaAnswer, ReplicaCommand, ReplicaOrder } from './messages.js';
import { openReplica } from './replica.js';
import { StallProbe } from './stall-probe.js';

/** How long closing may take where the parent, and the server with it, is gone. */
const CLOSE_TIMEOUT_MS = 3000;

/** How long a limiter may take, at the end, to find its store again where it has lost it. */
const RETURN_TIMEOUT_MS = 5000;

const strays: string[] = [];
process.on('unhandledRejection', (reason) => strays.push(`unhandled rejection: ${text(reason)}`));
process.on('uncaughtException', (error) => strays.push(`uncaught exception: ${text(error)}`));

// Ctrl-C reaches the whole process group, but only the parent decides what it means.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {});
process.once('disconnect', () => setTimeout(() => process.exit(1), CLOSE_TIMEOUT_MS).unref());

const inbox = on(process, 'message', { close: ['disconnect'] });
const order = await next<ReplicaOrder>();
if (order !== undefined) {
  await run(order).catch((error: unknown) => {
    process.stderr.write(`${text(error)}\n`);
    process.exit(1);
  });
}
if (process.connected) process.disconnect();

async function run({ number, replicas, connection, seed, callsPerSecond }: ReplicaOrder) {
  const { limiter, events, close } = openReplica(connection, `replica-${number}`);
  const startLoad = (name: string): Load =>
    new Load(limiter, callsPerSecond, new Random(seed, `${name} of replica ${number}`));
  const warmUp = startLoad('warm-up');
  while (process.connected && limiter.health().replicas < replicas) await pause(20);
  await send('ready');
  const begins = (await next<ReplicaCommand>()) === 'begin';
  await warmUp.end();
  if (begins) {
    events.length = 0;
    const probe = new StallProbe();
    const load = startLoad('calls');
    await next<ReplicaCommand>();
    const untilMs = nowMs() + RETURN_TIMEOUT_MS;
    while (limiter.health().store !== 'up' && nowMs() < untilMs) await pause(20);
    await load.end();
    probe.end();
    const { calls, observations, thrown } = load.recorder;
    await send({
      ...{ calls, observations, thrown, strays, events },
      ...{ stalls: probe.stalls, mostLateMs: load.mostLateMs, health: limiter.health() },
    });
  }
  await close();
}

/** The next message; undefined where the parent is gone. */
async function next<Message>(): Promise<Message | undefined> {
  const { value } = await inbox.next();
  return value?.[0] as Message | undefined;
}

/** Resolves when it has gone out, or the parent is gone. */
function send(message: ReplicaAnswer): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });
}

function text(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
