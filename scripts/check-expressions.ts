/**
 * `node scripts/check-expressions.ts [--list]`: fails if a regular expression of `src` or `client`
 * may cost more than linear time. `--list` prints each with its verdict, and the slowest with their
 * times over texts of 1,000, 10,000 and 100,000 characters.
 */
import { readdirSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { printTable } from "../bench/report.ts";
import { EXCEPTIONS, findExpressions, findProblems, analyze, type Verdict } from "./expressions.ts";

const LENGTHS = [1000, 10_000, 100_000];
const SLOWEST = 12;

const { values } = parseArgs({ options: { list: { type: "boolean", default: false } } });
const files = ["src", "client/src"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
);
const verdicts: Verdict[] = [];
for (const file of [...files, "client/build.ts"].filter((name) => /\.tsx?$/.test(name)).toSorted())
  for (const expression of findExpressions(file, readFileSync(file, "utf8")))
    verdicts.push(await analyze(expression));

const problems = findProblems(verdicts, EXCEPTIONS);
const linear = verdicts.filter(({ objection }) => objection === null);
process.stdout.write(
  `${verdicts.length} regular expressions: ${linear.length} are linear, ${Object.keys(EXCEPTIONS).length} are exceptions.\n`,
);
if (values.list) list();
if (problems.length > 0) {
  process.stderr.write(
    `${problems.join("\n")}\nRewrite them so that a text can be matched in one way only, without assertions, or keep the exceptions in scripts/expressions.ts.\n`,
  );
  process.exitCode = 1;
}

function list(): void {
  for (const { at, code, objection } of verdicts)
    process.stdout.write(
      `${at} ${code} ${objection ?? "is linear"}${EXCEPTIONS[code] === undefined ? "" : `. ${EXCEPTIONS[code]}`}\n`,
    );
  const timed = verdicts
    .flatMap(({ at, pattern }) => (pattern === null ? [] : { at, times: timesOf(pattern) }))
    .toSorted((a, b) => (b.times.at(-1) ?? 0) - (a.times.at(-1) ?? 0));
  const rows = timed
    .slice(0, SLOWEST)
    .map(({ at, times }) => [at, ...times.map((ms) => ms.toFixed(2))]);
  const columns = ["expression", ...LENGTHS.map((length) => `${length} characters, ms`)];
  process.stdout.write(printTable({ title: "The slowest", columns, rows }));
}

/** The longest time over texts that repeat a character of the expression, or all of it. */
function timesOf(pattern: RegExp): number[] {
  const { source } = pattern;
  const pieces = [...new Set([...source.split(""), source, "a", "0", " ", "я", "A.", "://"])];
  return LENGTHS.map((length) =>
    Math.max(
      ...pieces.map((piece) => {
        const text = `${piece.repeat(Math.ceil(length / piece.length)).slice(0, length)}\0`;
        // The machine may be busy for a moment.
        return Math.min(timeOf(pattern, text), timeOf(pattern, text), timeOf(pattern, text));
      }),
    ),
  );
}

function timeOf(pattern: RegExp, text: string): number {
  const start = performance.now();
  text.replace(pattern, "");
  return performance.now() - start;
}
