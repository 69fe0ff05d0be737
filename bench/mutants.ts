/**
 * `node bench/mutants.ts [--count 120] [--seed 1]`: how much of `src` the tests prove. Makes random
 * mutants of the committed code, one at a time, and has the tests find them: those in Node that
 * reach the file, then those in workerd, then the types. Prints each mutant that survives, for a
 * reader to judge: some change nothing that can be seen. The pages (`web`) are left out.
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
  options: { count: { type: "string", default: "120" }, seed: { type: "string", default: "1" } },
});

/** Ends the tests of a mutant that never ends, with all their processes: it is found. */
const LIMITED = ["--kill-after=5", "300"];
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

const VITEST = ["--run", "--config", "vitest.config.ts", "--bail", "1", "--silent"];
/** What finds mutants, in the order of their cost. */
const FINDERS = {
  "tests in Node": (file: string) =>
    fails(
      "vitest",
      "related",
      file,
      "--passWithNoTests",
      ...VITEST,
      "--project",
      "node",
      "--project",
      "sweeps",
    ),
  "tests in workerd": () => fails("vitest", ...VITEST, "--project", "workers"),
  types: () => fails("tsc"),
};

const clone = mkdtempSync(join(tmpdir(), "mutants-"));
try {
  execFileSync("git", ["clone", "--quiet", ".", clone]);
  symlinkSync(join(process.cwd(), "node_modules"), join(clone, "node_modules"));
  execFileSync(process.execPath, ["web/build/build.ts"], { cwd: clone });
  for (const [name, finds] of Object.entries(FINDERS))
    if (finds("src/monitor/webhook.ts"))
      throw new Error(`${name} find a fault in code without a mutant`);
  const random = new Random(Number(values.seed), "mutants");
  const all = sources().flatMap(mutantsOf);
  const found = new Map<string, number>();
  const count = Number(values.count);
  for (let index = 1; index <= count; index++) {
    const [mutant] = all.splice(random.between(0, all.length - 1), 1);
    if (mutant === undefined) break;
    const by = find(mutant);
    found.set(by, (found.get(by) ?? 0) + 1);
    process.stderr.write(`${index} of ${count}: ${by}: ${describe(mutant)}\n`);
  }
  const rows = [...Object.keys(FINDERS), "nothing"].map((by) => [by, String(found.get(by) ?? 0)]);
  process.stdout.write(printTable({ title: "Mutants", columns: ["found by", "mutants"], rows }));
} finally {
  rmSync(clone, { recursive: true, force: true });
}

/** Makes a mutant, and returns what finds it first. */
function find({ file, start, end, text }: Mutant): string {
  const path = join(clone, file);
  const code = readFileSync(path, "utf8");
  writeFileSync(path, code.slice(0, start) + text + code.slice(end));
  try {
    return Object.entries(FINDERS).find(([, finds]) => finds(file))?.[0] ?? "nothing";
  } finally {
    writeFileSync(path, code);
  }
}

function fails(command: string, ...args: readonly string[]): boolean {
  const PATH = `${join(clone, "node_modules/.bin")}${delimiter}${process.env["PATH"]}`;
  const env = { ...process.env, PATH };
  const limited = [...LIMITED, command, ...args];
  return spawnSync("timeout", limited, { cwd: clone, stdio: "ignore", env }).status !== 0;
}

function sources(): readonly string[] {
  return readdirSync(join(clone, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.startsWith("web"))
    .map((name) => join("src", name))
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
  if ("type" in node) visit(node as Node); // ESTree: what has a type is a node
  for (const value of Object.values(node))
    if (typeof value === "object" && value !== null) walk(value, visit);
}

function describe({ file, start, end, text }: Mutant): string {
  const code = readFileSync(join(clone, file), "utf8");
  const line = code.slice(0, start).split("\n").length;
  return `${file}:${line} ${JSON.stringify(code.slice(start, end))} became ${JSON.stringify(text)}`;
}
