/** The fleet demo: what is done, in which order, and what it exits with. See README.md. */
import { HELP, type Options, parseOptions, UsageError } from './args.js';
import { type Fleet, InProcessFleet, ProcessFleet } from './fleet.js';
import { Interrupted, interruption, unlessAborted } from './interruption.js';
import { Progress } from './progress.js';
import * as report from './report.js';
import { type Figures, JOINING, REPLICAS, run } from './run.js';
import { openStore, type QuotaStore } from './store.js';

process.exitCode = await main(process.argv.slice(2));

/** Resolves to the exit code. Whatever happens, what was started has been stopped by then. */
async function main(args: readonly string[]): Promise<number> {
  const progress = new Progress();
  try {
    const options = parseOptions(args);
    if (options.help) {
      process.stdout.write(HELP);
      return 0;
    }
    return await demo(options, progress, interruption());
  } catch (error) {
    progress.clear();
    if (error instanceof UsageError) {
      process.stderr.write(`fleet-demo: ${error.message}\nSee --help.\n`);
      return 2;
    }
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`fleet-demo: ${message}\n`);
    // Not to wait for a Redis that is still starting: it ends with this process.
    if (error instanceof Interrupted) process.exit(error.exitCode);
    return 1;
  }
}

/** Runs the demo and prints what it shows. Resolves to the exit code. */
async function demo(options: Options, progress: Progress, signal: AbortSignal): Promise<number> {
  const { json, limit } = options;
  const print = (text: string) => {
    progress.clear();
    if (!json) process.stdout.write(`${text}\n`);
  };
  print(report.introduction(limit));
  progress.step('looking for a Redis');
  const store = await unlessAborted(openStore(options.store), signal);
  const fleet = fleetFor(store, limit);
  let figures: Figures;
  try {
    print(report.storeLines(store));
    figures = await run(fleet, limit, progress, signal, (before) =>
      print(report.tables(report.titleBefore(before), before, limit)),
    );
    progress.step('stopping the replicas');
  } catch (error) {
    // What was thrown because of the signal, or instead of it, is the signal's doing.
    signal.throwIfAborted();
    throw error;
  } finally {
    await fleet.stop();
    await store.close();
  }
  print(report.tables(report.titleAfter(figures), figures.after, limit));
  print(report.conclusion(figures, limit));
  if (json) process.stdout.write(`${report.toJson(store.kind, limit, figures)}\n`);
  const problems = report.problems(figures, limit);
  for (const problem of problems) process.stderr.write(`fleet-demo: ${problem}\n`);
  return problems.length === 0 ? 0 : 1;
}

function fleetFor(store: QuotaStore, limit: number): Fleet {
  const replicas = REPLICAS + JOINING;
  if (store.kind === 'memory') return new InProcessFleet(limit, replicas);
  return new ProcessFleet({ limit, replicas, redisUrl: store.url, prefix: store.prefix });
}
