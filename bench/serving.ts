import type { BenchWorker } from "./bench-worker.ts";
import type { Case } from "./cases.ts";
import { type Comparison, type Measured, METHOD, pairedRatio, type Target } from "./measure.ts";
import { NodeServer } from "./node-server.ts";
import type { Table } from "./report.ts";
import { type RawAnswer, send } from "./send.ts";
import { StaticServer } from "./static-server.ts";
import { round } from "./statistics.ts";
import { workerdCpuMs } from "./workerd-process.ts";

/** Everybody who is compared with the service. */
type Name = "service" | "constant" | "reading" | "stock" | "decode" | "node" | "static";
type Results = ReadonlyMap<Name, Measured>;

export interface Servers {
  readonly worker: BenchWorker;
  readonly node: NodeServer;
  /** Undefined where none is installed. */
  readonly files: StaticServer | undefined;
}

/** Starts the servers besides the Worker, and lets all learn the message. */
export async function startServers(
  worker: BenchWorker,
  example: Case,
  say: (line: string) => void,
): Promise<Servers> {
  const { body } = await send(worker.port, example);
  await fetch(`http://127.0.0.1:${worker.stockPort}/learn-message`, { method: "POST", body });
  return { worker, node: await NodeServer.start(body), files: await StaticServer.start(say) };
}

/** A case that all servers know. */
export interface Prepared extends Comparison<Name> {
  /** Bytes of the answer's body on the wire. */
  readonly bytes: number;
}

/** What measuring a case came to. */
export interface Served extends Prepared {
  readonly results: Results;
}

/** @param limitsOnly whether the service is compared with the limits only. */
export async function prepareCase(
  servers: Servers,
  one: Case,
  limitsOnly: boolean,
): Promise<Prepared> {
  const { worker } = servers;
  const first = await send(worker.port, one);
  const prepared: Case = {
    ...one,
    headers: one.prepare?.(one.headers, first.headers) ?? one.headers,
  };
  const answer = await send(worker.port, {
    ...prepared,
    path: `/learn/${one.name}${queryOf(one)}`,
  });
  const learned = JSON.parse(answer.body.toString()) as { status: number; bytes: number }; // worker.ts
  if (learned.status !== one.status)
    throw new Error(`${one.name}: ${learned.status} instead of ${one.status}`);
  const limits = limitsOf(servers, prepared);
  const others = limitsOnly ? [] : await othersOf(servers, prepared, first);
  return { one, bytes: learned.bytes, targets: new Map([...limits, ...others]) };
}

const inWorkerd = (one: Case, port: number, path: string, repeats = false): Target => ({
  port,
  request: { ...one, path },
  cpuMs: workerdCpuMs,
  repeats,
});

/** The service, and the least that a Worker can do. */
function limitsOf({ worker: { port } }: Servers, one: Case): [Name, Target][] {
  return [
    ["service", inWorkerd(one, port, one.path, true)],
    ["constant", inWorkerd(one, port, `/constant/${one.name}${queryOf(one)}`)],
    ["reading", inWorkerd(one, port, `/reading/${one.name}${queryOf(one)}`)],
  ];
}

async function othersOf(
  { worker, node, files }: Servers,
  one: Case,
  first: RawAnswer,
): Promise<[Name, Target][]> {
  const targets: [Name, Target][] = [];
  if (one.stock) {
    targets.push(["stock", inWorkerd(one, worker.stockPort, `/stock${one.path}`, true)]);
    targets.push(["decode", inWorkerd(one, worker.stockPort, `/decode${one.path}`)]);
  }
  // It would compress for each request, which takes it seconds.
  if (one.stock && one.headers["accept-encoding"] === "identity") {
    const { port, cpuMs } = node;
    targets.push(["node", { port, request: one, cpuMs, repeats: false }]);
  }
  if (files !== undefined) targets.push(["static", await fileTarget(files, one, first)]);
  return targets;
}

/** The same bytes out of a file, which a GET asks for. */
async function fileTarget(files: StaticServer, one: Case, first: RawAnswer): Promise<Target> {
  files.write(one.name, first.body, first.headers.get("content-encoding") ?? "identity");
  const headers = { "accept-encoding": one.headers["accept-encoding"] ?? "identity" };
  const request = { ...one, method: "GET", path: `/${one.name}`, headers, body: new Uint8Array() };
  const answer = await send(files.port, request);
  if (!answer.body.equals(first.body)) throw new Error(`${one.name}: nginx sends something else`);
  const isConditional = one.prepare !== undefined;
  const prepared = isConditional ? (one.prepare?.(headers, answer.headers) ?? headers) : headers;
  const { port, cpuMs } = files;
  return { port, request: { ...request, headers: prepared }, cpuMs, repeats: false };
}

/** The query string of a request, which the constant is asked with as well. */
function queryOf({ path }: Case): string {
  return path.includes("?") ? path.slice(path.indexOf("?")) : "";
}

/** What the usual requests take, of others too: the table of the page. */
export function summaryTable(all: readonly Served[]): Table {
  const usual = all.filter(({ one }) => one.stock || one.method === "GET");
  return {
    title:
      "Serving in English, and the CPU of others as a multiple of the service's. The limit is a Worker that looks at the request and returns the same bytes as a constant; the router is Connect's, with the message in memory, and does not compress; nginx has the answers as files.",
    columns: [
      "request",
      "bytes",
      "requests/s",
      "CPU ms",
      "limit / service",
      "router / service",
      "nginx / service",
    ],
    rows: usual.map(({ one, bytes, results }) => [
      one.name,
      String(bytes),
      round(results.get("service")?.requestsPerSecond ?? Number.NaN, 0),
      round(results.get("service")?.cpuMs ?? Number.NaN, 2),
      costRatio(results, "reading", "cpuMs"),
      costRatio(results, "stock", "cpuMs"),
      costRatio(results, "static", "cpuMs"),
    ]),
  };
}

/** The service beside the least and the most that a Worker can do. */
export function servingTable(all: readonly Served[]): Table {
  return {
    title: `Serving ${METHOD}. The limit is a Worker that returns the same bytes as a constant; one that reads looks at the request first. For CPU, "of the limit" is the limit's CPU as a share of the service's. "Stock" is how many times the service is better than Connect's router with the message in memory, which never compresses. Time to answer: medians of 5 times 200 ms, nothing sent.`,
    columns: [
      "request",
      "bytes",
      "requests/s",
      "of the limit",
      "of one that reads",
      "CPU ms",
      "of the limit",
      "of one that reads",
      "µs to answer",
      "stock: requests/s",
      "CPU",
      "time to answer",
    ],
    rows: all.map(({ one, bytes, results }) => [
      one.name,
      String(bytes),
      round(results.get("service")?.requestsPerSecond ?? Number.NaN, 0),
      requestsRatio(results, "constant"),
      requestsRatio(results, "reading"),
      round(results.get("service")?.cpuMs ?? Number.NaN, 2),
      costRatio(results, "constant", "cpuMs"),
      costRatio(results, "reading", "cpuMs"),
      round((results.get("service")?.answerMs ?? Number.NaN) * 1000, 0),
      requestsRatio(results, "stock"),
      costRatio(results, "stock", "cpuMs"),
      costRatio(results, "stock", "answerMs"),
    ]),
  };
}

/** How many times the service is better than other servers. */
export function comparisonTable(all: readonly Served[]): Table {
  return {
    title:
      "How many times more requests a second the service answers than others, and how many times less CPU it takes for each, measured likewise: Connect's router in a Worker, which decodes the message for each request; connect-node in Node with the message in memory; neither compresses; nginx with precompressed files, in one process.",
    columns: [
      "request",
      "with decode: requests/s",
      "CPU",
      "connect-node: requests/s",
      "CPU",
      "nginx: requests/s",
      "CPU",
    ],
    rows: all.map(({ one, results }) => [
      one.name,
      ...(["decode", "node", "static"] as const).flatMap((other) => [
        requestsRatio(results, other),
        costRatio(results, other, "cpuMs"),
      ]),
    ]),
  };
}

/** Requests of the service for one of another server; empty if that was not asked. */
function requestsRatio(results: Results, other: Name): string {
  return ratio(results, "service", other, "requestsPerSecond");
}

/** What another server takes for what the service takes; empty if that was not asked. */
function costRatio(results: Results, other: Name, key: "cpuMs" | "answerMs"): string {
  return ratio(results, other, "service", key);
}

function ratio(
  results: Results,
  name: Name,
  other: Name,
  key: "requestsPerSecond" | "cpuMs" | "answerMs",
): string {
  const [one, two] = [results.get(name), results.get(other)];
  if (one === undefined || two === undefined) return "";
  const value = key === "answerMs" ? one[key] / two[key] : pairedRatio(one, two, key);
  return round(value, value < 10 ? 2 : 0);
}
