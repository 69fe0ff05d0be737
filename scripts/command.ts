import { StartError } from "./start-error.ts";

/** Runs a command; a mistake of its user ends it with a sentence and its help, not with a stack. */
export async function runCommand(help: string, command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (error instanceof StartError) process.stderr.write(`\n${error.message}\n`);
    else if (isUsageError(error)) process.stderr.write(`${error.message}\n\n${help}`);
    else throw error;
    process.exitCode = 1;
  }
}

/** A mistake in the command line, as `parseArgs` reports it. */
function isUsageError(error: unknown): error is Error {
  return (
    error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")
  );
}
