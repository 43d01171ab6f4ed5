/** What is put under load: the same few questions to every contender. */
export interface Checked<Answer> {
  check(key: string): Promise<Answer>;
  /** Whether the answer lets the call through. */
  admitted(answer: Answer): boolean;
}

export interface Load {
  /** Asked for in turn, from the first again after the last. */
  readonly keys: readonly string[];
  /** Checks that wait for their answer at any time: each answer is followed by the next check. */
  readonly inFlight: number;
  /** How long checks are made; those then in flight are waited for. */
  readonly runMs: number;
}

export interface LoopRun {
  /** Checks that were answered: all that were made. */
  readonly answered: number;
  /** Time until the last answer. */
  readonly elapsedMs: number;
  /** Of this process, user and system, all threads: with the loop's own share, equal for all. */
  readonly clientCpuUs: number;
}

/** Loads a contender. Fails where a check fails, or is answered with a denial. */
export async function runClosedLoop<Answer>(
  checked: Checked<Answer>,
  { keys, inFlight, runMs }: Load,
): Promise<LoopRun> {
  let stopped = false;
  let made = 0;
  let admitted = 0;

  const lane = async (): Promise<void> => {
    while (!stopped) {
      const key = keys[made++ % keys.length] as string;
      if (checked.admitted(await checked.check(key))) admitted++;
    }
  };

  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  const timer = setTimeout(() => {
    stopped = true;
  }, runMs);
  try {
    await Promise.all(Array.from({ length: inFlight }, lane));
  } finally {
    stopped = true;
    clearTimeout(timer);
  }
  const elapsedMs = performance.now() - startMs;
  const { user, system } = process.cpuUsage(startCpu);
  if (admitted !== made) throw new Error(`${made - admitted} of ${made} checks were denied`);
  return { answered: made, elapsedMs, clientCpuUs: user + system };
}
