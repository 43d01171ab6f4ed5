import { abortOnSignal } from './abort-on-signal.js';

/**
 * Runs a program of the bench: complaints about its command line end it with code 2 and its usage, the
 * user's signal with that signal's, any other failure with 1 and where it came from.
 *
 * @param parse throws an Error that names the argument that cannot be used
 * @param run @returns the code to end with
 */
export async function runProgram<Asked>(
  parse: (args: readonly string[]) => Asked,
  usage: string,
  run: (asked: Asked, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  let asked: Asked;
  try {
    asked = parse(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${usage}\n`);
    return 2;
  }
  const interruption = abortOnSignal();
  try {
    return await run(asked, interruption.signal);
  } catch (error) {
    const { aborted } = interruption.signal;
    const says = error instanceof Error ? (aborted ? error.message : error.stack) : error;
    process.stderr.write(`${says}\n`);
    return interruption.exitCode() ?? 1;
  }
}
