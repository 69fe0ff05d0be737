/**
 * `npm run mutants`: how much of `src` and `client/src` the tests prove. Makes mutants of the
 * committed code, one at a time, and prints each that survives, for a reader to assess: some change
 * nothing that can be seen, and some are found by the tests in browsers, which it leaves out.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { parseAst } from "vitest/node";
import { Random } from "../test/chaos/random.ts";
import { printTable } from "./report.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "120" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npm run mutants -- [--count N] [--seed N] [--only PATH]

  --count N    how many mutants are drawn (default 120); each that survives takes two minutes
  --seed N     what draws them (default 1)
  --only PATH  draw only from files whose path begins so, such as src/catalog/locale.ts
`);
  process.exit(0);
}

const ROOTS = ["src", "client/src"];
/** All tests of a project end within this time even on a busy machine. */
const HANG_SECONDS = 300;
/** What `timeout` exits with after its signal, and after the kill that follows. */
const TIMED_OUT: readonly (number | null)[] = [124, 137];
const OPPOSITES: { readonly [operator: string]: string } = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "??": "&&",
  "+": "-",
  "-": "+",
  "*": "/",
};

/** A change of one place in a file. */
interface Mutant {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A node of ESTree, as far as it is looked at. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly operator?: string;
  readonly value?: unknown;
  readonly left?: Node;
  readonly right?: Node;
  readonly argument?: Node;
  readonly test?: Node;
}

type Outcome = "passed" | "failed" | "hung";

const VITEST = ["--run", "--config", "vitest.config.ts", "--bail", "1", "--silent"];
const IN_NODE = ["--passWithNoTests", "--project", "node", "--project", "sweeps"];
/** What finds mutants, in the order of their cost: the tests that reach the file come first. */
const FINDERS: { readonly [name: string]: (file: string) => Outcome } = {
  "tests in Node": (file) => run("vitest", "related", file, ...VITEST, ...IN_NODE),
  types: (file) => (file.startsWith("src") ? run("tsc") : run("tsc", "-p", "client", "--noEmit")),
  "tests in workerd": () => run("vitest", ...VITEST, "--project", "workers"),
};
const SURVIVED = "survived";
const HUNG = "hung";

const clone = mkdtempSync(join(tmpdir(), "mutants-"));
try {
  execFileSync("git", ["clone", "--quiet", ".", clone]);
  symlinkSync(join(process.cwd(), "node_modules"), join(clone, "node_modules"));
  execFileSync(process.execPath, ["web/build/build.ts"], { cwd: clone });
  for (const file of ["src/monitor/webhook.ts", "client/src/distance.ts"]) {
    const fault = findFault(file);
    if (fault !== SURVIVED) throw new Error(`${file} without a mutant: ${fault}`);
  }
  const random = new Random(Number(values.seed), "mutants");
  const all = sources().flatMap(mutantsOf);
  const count = Math.min(Number(values.count), all.length);
  const tried: { readonly file: string; readonly result: string }[] = [];
  for (let index = 1; index <= count; index++) {
    const [mutant] = all.splice(random.between(0, all.length - 1), 1);
    if (mutant === undefined) break;
    const result = tryMutant(mutant);
    tried.push({ file: mutant.file, result });
    process.stderr.write(`${index} of ${count}: ${result}: ${describe(mutant)}\n`);
  }
  const results = [...Object.keys(FINDERS).map(foundBy), HUNG, SURVIVED];
  const rows = results.map((result) => {
    const ofResult = tried.filter((one) => one.result === result);
    return [
      result,
      ...ROOTS.map((root) => String(ofResult.filter(({ file }) => file.startsWith(root)).length)),
    ];
  });
  process.stdout.write(printTable({ title: "Mutants", columns: ["", ...ROOTS], rows }));
} finally {
  rmSync(clone, { recursive: true, force: true });
}

/** Makes a mutant, and returns its outcome. */
function tryMutant({ file, start, end, text }: Mutant): string {
  const path = join(clone, file);
  const code = readFileSync(path, "utf8");
  writeFileSync(path, code.slice(0, start) + text + code.slice(end));
  try {
    return findFault(file);
  } finally {
    writeFileSync(path, code);
  }
}

function findFault(file: string): string {
  for (const [name, find] of Object.entries(FINDERS)) {
    const outcome = find(file);
    if (outcome !== "passed") return outcome === "hung" ? HUNG : foundBy(name);
  }
  return SURVIVED;
}

function foundBy(finder: string): string {
  return `found by ${finder}`;
}

function run(command: string, ...args: readonly string[]): Outcome {
  const PATH = `${join(clone, "node_modules/.bin")}${delimiter}${process.env["PATH"]}`;
  const env = { ...process.env, PATH };
  const limited = ["--kill-after=5", String(HANG_SECONDS), command, ...args];
  const { status } = spawnSync("timeout", limited, { cwd: clone, stdio: "ignore", env });
  if (status === 0) return "passed";
  return TIMED_OUT.includes(status) ? "hung" : "failed";
}

function sources(): readonly string[] {
  return ROOTS.flatMap((root) =>
    readdirSync(join(clone, root), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(root, name)),
  )
    .filter((file) => file.startsWith(values.only))
    .toSorted();
}

function mutantsOf(file: string): readonly Mutant[] {
  const code = readFileSync(join(clone, file), "utf8");
  const mutants: Mutant[] = [];
  const add = (start: number, end: number, text: string) =>
    mutants.push({ file, start, end, text });
  walk(parseAst(code, { lang: "ts" }), (node) => {
    const { type, start, end, operator = "", value, left, right, argument, test } = node;
    const opposite = OPPOSITES[operator];
    if (left !== undefined && right !== undefined && opposite !== undefined)
      add(left.end, right.start, code.slice(left.end, right.start).replace(operator, opposite));
    if (type === "UnaryExpression" && operator === "!" && argument !== undefined)
      add(start, argument.start, "");
    if (type === "Literal" && typeof value === "boolean") add(start, end, String(!value));
    if (type === "Literal" && typeof value === "number") add(start, end, String(value + 1));
    if (type === "IfStatement" && test !== undefined)
      for (const always of ["true", "false"]) add(test.start, test.end, always);
    if (type === "ConditionalExpression" && test !== undefined)
      add(test.start, test.end, `!(${code.slice(test.start, test.end)})`);
    if (type === "ExpressionStatement") add(start, end, ";");
  });
  return mutants;
}

function walk(node: object, visit: (node: Node) => void): void {
  if ("type" in node) {
    const { type } = node as Node; // ESTree: what has a type is a node
    if (type.startsWith("TS") && !("expression" in node)) return; // a type: it does nothing
    visit(node as Node);
  }
  for (const value of Object.values(node))
    if (typeof value === "object" && value !== null) walk(value, visit);
}

function describe({ file, start, end, text }: Mutant): string {
  const code = readFileSync(join(clone, file), "utf8");
  const line = code.slice(0, start).split("\n").length;
  return `${file}:${line} ${JSON.stringify(code.slice(start, end))} became ${JSON.stringify(text)}`;
}
