/** A command failed for a reason that its user can fix. The message says which, why and what to do. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** Interval between checks of the process that started this one. */
const PARENT_POLL_MS = 500;

/**
 * Runs a command. Its user's mistakes end it with a sentence instead of a stack.
 *
 * @param command gets a signal that aborts when the user or the system ends it.
 */
export async function runCommand(
  help: string,
  command: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const signal = stopSignal();
  try {
    await command(signal);
  } catch (error) {
    // A failure after a signal is the signal's.
    if (signal.aborted) return;
    if (error instanceof CommandError) process.stderr.write(`\n${error.message}\n`);
    else if (isUsageError(error)) process.stderr.write(`${error.message}\n\n${help}`);
    else throw error;
    process.exitCode = 1;
  }
}

/** The stream of messages: not standard output if that has data. */
export const sentences: { stream: NodeJS.WriteStream } = { stream: process.stdout };

export function say(line: string): void {
  sentences.stream.write(`${line}\n`);
}

/** Prints a message while a line of the terminal may show progress, which is then printed again. */
export function sayOverProgress(line: string): void {
  say(`${sentences.stream.isTTY ? "\r\x1b[2K" : ""}${line}`);
}

/** Also aborts if npm has ended without a signal. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = () => {
    if (!controller.signal.aborted) say("\nStopping …");
    controller.abort();
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, stop);
  // The program that reads the output has ended.
  process.stdout.on("error", stop);
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || stop(), PARENT_POLL_MS).unref();
  return controller.signal;
}

/** A mistake in the command line, as `parseArgs` reports it. */
function isUsageError(error: unknown): error is Error {
  return (
    error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")
  );
}
