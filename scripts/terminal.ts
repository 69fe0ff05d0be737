import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/** Where the user of a script sits. */
export interface Terminal {
  /** Whether somebody sees what is said and can answer. */
  readonly isInteractive: boolean;
  readonly say: (line: string) => void;
  /** Asks for something that is not shown while it is typed. */
  readonly askSecret: (question: string) => Promise<string>;
}

export function processTerminal(signal: AbortSignal): Terminal {
  return {
    isInteractive: process.stdin.isTTY && process.stdout.isTTY,
    say: (line) => void process.stdout.write(`${line}\n`),
    askSecret: (question) => askSecret(question, signal),
  };
}

async function askSecret(question: string, signal: AbortSignal): Promise<string> {
  process.stdout.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  // In raw mode Ctrl-C is a key like any other.
  reader.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    return await reader.question("", { signal });
  } finally {
    reader.close();
    process.stdout.write("\n");
  }
}
