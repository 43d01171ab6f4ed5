/** What the user's wish to end a program makes of it. */
export interface Interruption {
  /** Aborted by the first of SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  /** The one for that signal; undefined where there was none. */
  exitCode(): number | undefined;
}

/** The first signal ends the run in good order; a second one ends it at once. */
export function abortOnSignal(): Interruption {
  const controller = new AbortController();
  let exitCode: number | undefined;
  const signals = [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const;
  for (const [name, code] of signals) {
    process.once(name, () => {
      exitCode ??= code;
      controller.abort(new Error(`interrupted by ${name}`));
    });
  }
  return { signal: controller.signal, exitCode: () => exitCode };
}
