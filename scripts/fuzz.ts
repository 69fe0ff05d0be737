/** Runs the fuzz tests for longer than `npm test` does: `npm run fuzz -- --runs N --seed N`. */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const USAGE = `npm run fuzz -- [--runs N] [--seed N]

  --runs N   cases of each property (10000)
  --seed N   where the random numbers begin (a random one; it is printed)
`;

/** A whole number of an option, or an error that says what to write. */
function wholeNumber(name: string, text: string, least: number): number {
  const number = Number(text);
  if (/^\d{1,10}$/.test(text) && number >= least && number <= MAX_NUMBER) return number;
  throw new Error(`--${name} must be a whole number from ${least} to ${MAX_NUMBER}`);
}

/** The largest seed that fast-check takes. */
const MAX_NUMBER = 2 ** 31 - 1;

function run(): number {
  const { values } = parseArgs({
    options: { runs: { type: "string" }, seed: { type: "string" }, help: { type: "boolean" } },
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
    return 0;
  }
  const runs = wholeNumber("runs", values.runs ?? "10000", 1);
  const anySeed = Math.floor(Math.random() * MAX_NUMBER);
  const seed = wholeNumber("seed", values.seed ?? String(anySeed), 0);
  process.stdout.write(`${runs} cases of each property, seed ${seed}\n`);
  const vitest =
    "run --config test/vitest.config.ts --project node --project workers .fuzz.test.ts";
  const { status } = spawnSync("vitest", vitest.split(" "), {
    stdio: "inherit",
    env: { ...process.env, FUZZ_RUNS: String(runs), FUZZ_SEED: String(seed) },
  });
  return status ?? 1;
}

try {
  process.exitCode = run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 1;
}
