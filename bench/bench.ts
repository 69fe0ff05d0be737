/**
 * `npm run bench`: the service against the least and the most that a Worker can do, in one isolate,
 * in one run, on the same bytes; and where the time of an ingest goes. Ratios of medians.
 */
import { parseArgs } from "node:util";
import { BenchWorker } from "./bench-worker.ts";
import { CASES, type Case } from "./cases.ts";
import { measureIngest } from "./ingest.ts";
import { load, type LoadRequest } from "./load.ts";
import { printTable, writeReport } from "./report.ts";
import { median, round } from "./statistics.ts";
import { StepCosts } from "./step-costs.ts";
import { workerdCpuMs } from "./workerd-process.ts";

const CONNECTIONS = 8;
const ROUNDS = 7;
const WARM_UP_MS = 300;
/** Answers that are made to see how long one takes. */
const ANSWERS = 50;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npm run bench -- [--seconds N] [--only NAMES] [--write]

  --seconds N   time of each of ${ROUNDS} rounds of each measurement (default 1)
  --only NAMES  measure only these requests, by their names, separated by commas
  --write       also write the tables into README.md
`);
  process.exit(0);
}

/** What one target did over the rounds. */
interface Measured {
  readonly requestsPerSecond: number;
  readonly cpuMs: number;
  /** Time to make an answer without sending it. */
  readonly answerMs: number;
}

const roundMs = Number(values.seconds) * 1000;
const steps = new StepCosts();
const worker = await BenchWorker.start((line) => steps.hear(line));
try {
  progress("ingest");
  const ingest = await measureIngest(worker, steps);
  const rows: string[][] = [];
  const cases = values.only === "" ? CASES : chosenCases(values.only.split(","));
  for (const [index, one] of cases.entries()) {
    progress(`${one.name} (${index + 1} of ${cases.length})`);
    rows.push(await measureCase(one));
  }
  const serving = {
    title: `Serving over ${CONNECTIONS} connections, medians of ${ROUNDS} rounds. "Stock" is how many times the service is better than Connect's router with the message in memory.`,
    columns: [
      "request",
      "bytes",
      "requests/s",
      "of the limit",
      "CPU ms",
      "of the limit",
      "µs to answer",
      "stock: requests/s",
      "CPU",
      "time to answer",
    ],
    rows,
  };
  const tables = [serving, ...ingest];
  for (const table of tables) process.stdout.write(printTable(table));
  if (values.write) writeReport(tables);
} finally {
  await worker.stop();
}

function chosenCases(names: readonly string[]): readonly Case[] {
  const unknown = names.filter((name) => !CASES.some((one) => one.name === name));
  if (unknown.length === 0) return CASES.filter(({ name }) => names.includes(name));
  const known = CASES.map(({ name }) => name).join(", ");
  throw new Error(`there is no request "${unknown.join('", "')}" among ${known}`);
}

async function measureCase(one: Case): Promise<string[]> {
  const { bytes } = await learn(one);
  const service = { port: worker.port, path: one.path };
  const constant = { port: worker.port, path: `/constant/${one.name}${queryOf(one)}` };
  const stock = { port: worker.stockPort, path: `/stock${one.path}` };
  const rounds = await measure(one, [service, constant, ...(one.stock ? [stock] : [])]);
  const ofService = column(rounds, 0);
  const ofConstant = column(rounds, 1);
  const ofStock = one.stock ? column(rounds, 2) : undefined;
  const times = (all: readonly Measured[] | undefined, key: keyof Measured) =>
    all === undefined ? "" : round(medianRatio(all, ofService, key), 0);
  return [
    one.name,
    String(bytes),
    round(median(ofService.map(({ requestsPerSecond }) => requestsPerSecond)), 0),
    round(medianRatio(ofService, ofConstant, "requestsPerSecond"), 2),
    round(median(ofService.map(({ cpuMs }) => cpuMs)), 2),
    round(medianRatio(ofConstant, ofService, "cpuMs"), 2),
    round(median(ofService.map(({ answerMs }) => answerMs)) * 1000, 0),
    ofStock === undefined ? "" : round(1 / medianRatio(ofStock, ofService, "requestsPerSecond"), 0),
    times(ofStock, "cpuMs"),
    times(ofStock, "answerMs"),
  ];
}

/** What one target did in each round. */
function column(rounds: readonly (readonly Measured[])[], target: number): readonly Measured[] {
  return rounds.flatMap((measured) => measured[target] ?? []);
}

/** Median of the ratios within each round, so that a slow moment of the machine meets both. */
function medianRatio(
  one: readonly Measured[],
  other: readonly Measured[],
  key: keyof Measured,
): number {
  return median(one.map((measured, index) => measured[key] / (other[index]?.[key] ?? Number.NaN)));
}

/** Lets the Worker learn the constant of a case from the service itself. */
async function learn(one: Case): Promise<{ readonly bytes: number }> {
  const send = async (path: string, headers: { readonly [name: string]: string }) =>
    fetch(`http://127.0.0.1:${worker.port}${path}`, {
      method: one.method,
      headers,
      ...(one.method === "POST" && { body: new Uint8Array(one.body) }),
    });
  const first = await send(one.path, one.headers);
  const answered = await first.arrayBuffer();
  if (one.name === "connect-proto-identity")
    await fetch(`http://127.0.0.1:${worker.stockPort}/learn-message`, {
      method: "POST",
      body: answered,
    });
  one.headers = one.prepare?.(one.headers, first.headers) ?? one.headers;
  const answer = await send(`/learn/${one.name}${queryOf(one)}`, one.headers);
  const learned = await answer.json<{ status: number; bytes: number }>();
  if (learned.status !== one.status)
    throw new Error(`${one.name}: ${learned.status} instead of ${one.status}`);
  return learned;
}

/** The query string of a request, which the constant is asked with as well. */
function queryOf({ path }: Case): string {
  return path.includes("?") ? path.slice(path.indexOf("?")) : "";
}

interface Target {
  readonly port: number;
  readonly path: string;
}

/** Measures targets in turn, round by round. */
async function measure(one: Case, targets: readonly Target[]): Promise<Measured[][]> {
  const rounds: Measured[][] = [];
  for (let index = -1; index < ROUNDS; index++) {
    const measured: Measured[] = [];
    for (const target of targets)
      measured.push(await measureTarget(one, target, index < 0 ? WARM_UP_MS : roundMs));
    if (index >= 0) rounds.push(measured);
  }
  return rounds;
}

async function measureTarget(one: Case, { port, path }: Target, ms: number): Promise<Measured> {
  const request = { ...one, path };
  const before = workerdCpuMs();
  const options = { connections: CONNECTIONS, ms, status: one.status };
  const { requests, requestsPerSecond } = await load(port, request, options);
  const cpuMs = (workerdCpuMs() - before) / requests;
  return { requestsPerSecond, cpuMs, answerMs: await measureAnswer(port, request) };
}

/** Time to make an answer, from the difference between making many and making few. */
async function measureAnswer(
  port: number,
  { method, path, headers, body }: LoadRequest,
): Promise<number> {
  const time = async (times: number) => {
    const url = `http://127.0.0.1:${port}${path}`;
    const began = performance.now();
    await fetch(`http://127.0.0.1:${port}/repeat`, {
      method: "POST",
      body: JSON.stringify({ times, method, url, headers, body: [...body] }),
    });
    return performance.now() - began;
  };
  const few = await time(ANSWERS / 10);
  const many = await time(ANSWERS);
  return (many - few) / (ANSWERS * 0.9);
}

function progress(what: string): void {
  process.stderr.write(`measuring ${what} …\n`);
}
