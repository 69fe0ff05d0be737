import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { processTerminal, type Terminal } from "./terminal.ts";

/** Where the user of a deployment sits. */
export interface DeployTerminal extends Terminal {
  /** Asks a question; whatever is not a clear yes is a no. */
  readonly confirm: (question: string) => Promise<boolean>;
}

export function deployTerminal(signal: AbortSignal): DeployTerminal {
  return { ...processTerminal(signal), confirm: (question) => confirm(question, signal) };
}

async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  // In raw mode Ctrl-C is a key like any other.
  reader.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const noAnswer = once(reader, "close").then(() => "");
  try {
    const answer = await Promise.race([
      reader.question(`${question} (y/N) `, { signal }),
      noAnswer,
    ]);
    return /^\s*y(es)?\s*$/i.test(answer);
  } finally {
    reader.close();
  }
}
