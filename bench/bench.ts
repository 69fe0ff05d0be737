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
import { workerdCpuMs } from "./workerd-process.ts";

const CONNECTIONS = 8;
const ROUNDS = 5;
const WARM_UP_MS = 300;
/** Answers that are made to see how long one takes. */
const ANSWERS = 50;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "1" },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npm run bench -- [--seconds N] [--write]

  --seconds N   time of each of ${ROUNDS} rounds of each measurement (default 1)
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
const worker = await BenchWorker.start();
try {
  progress("ingest");
  const ingest = await measureIngest(worker);
  const rows: string[][] = [];
  for (const [index, one] of CASES.entries()) {
    progress(`${one.name} (${index + 1} of ${CASES.length})`);
    rows.push(await measureCase(one));
  }
  const serving = {
    title: `Serving, ${CONNECTIONS} connections, medians of ${ROUNDS} rounds`,
    columns: [
      "request",
      "bytes",
      "requests/s",
      "CPU ms/request",
      "of the limit",
      "times the stock router",
      "µs to make the answer",
      "stock router's µs",
      "times faster",
    ],
    rows,
  };
  const tables = [serving, ...ingest];
  for (const table of tables) process.stdout.write(printTable(table));
  if (values.write) writeReport(tables);
} finally {
  await worker.stop();
}

async function measureCase(one: Case): Promise<string[]> {
  const { bytes } = await learn(one);
  const measured = await measure(one, [
    one.path,
    `/constant/${one.name}`,
    ...(one.stock ? [`/stock${one.path}`] : []),
  ]);
  const [service, constant, stock] = measured;
  if (service === undefined || constant === undefined) throw new Error("nothing was measured");
  return [
    one.name,
    String(bytes),
    round(service.requestsPerSecond, 0),
    round(service.cpuMs, 2),
    round(service.requestsPerSecond / constant.requestsPerSecond, 2),
    stock === undefined ? "" : round(service.requestsPerSecond / stock.requestsPerSecond, 0),
    round(service.answerMs * 1000, 0),
    stock === undefined ? "" : round(stock.answerMs * 1000, 0),
    stock === undefined ? "" : round(stock.answerMs / service.answerMs, 0),
  ];
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
  await first.arrayBuffer();
  one.headers = one.prepare?.(one.headers, first.headers) ?? one.headers;
  const query = one.path.includes("?") ? one.path.slice(one.path.indexOf("?")) : "";
  const answer = await send(`/learn/${one.name}${query}`, one.headers);
  const learned = await answer.json<{ status: number; bytes: number }>();
  if (learned.status !== one.status)
    throw new Error(`${one.name}: ${learned.status} instead of ${one.status}`);
  return learned;
}

/** Measures paths in turn, round by round, so that a slow moment of the machine meets them all. */
async function measure(one: Case, paths: readonly string[]): Promise<Measured[]> {
  const rounds: Measured[][] = paths.map(() => []);
  for (let index = -1; index < ROUNDS; index++)
    for (const [target, path] of paths.entries()) {
      const ms = index < 0 ? WARM_UP_MS : roundMs;
      const measured = await measureRound({ ...one, path }, ms, one.status);
      if (index >= 0) rounds[target]?.push(measured);
    }
  return rounds.map((all) => ({
    requestsPerSecond: median(all.map(({ requestsPerSecond }) => requestsPerSecond)),
    cpuMs: median(all.map(({ cpuMs }) => cpuMs)),
    answerMs: median(all.map(({ answerMs }) => answerMs)),
  }));
}

async function measureRound(request: LoadRequest, ms: number, status: number): Promise<Measured> {
  const before = workerdCpuMs();
  const options = { connections: CONNECTIONS, ms, status };
  const { requests, requestsPerSecond } = await load(worker.port, request, options);
  const cpuMs = (workerdCpuMs() - before) / requests;
  return { requestsPerSecond, cpuMs, answerMs: await measureAnswer(request) };
}

/** Time to make an answer, from the difference between making many and making few. */
async function measureAnswer({ method, path, headers, body }: LoadRequest): Promise<number> {
  const time = async (times: number) => {
    const url = `http://127.0.0.1:${worker.port}${path}`;
    const began = performance.now();
    await fetch(`http://127.0.0.1:${worker.port}/repeat`, {
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
