import type { BenchWorker } from "./bench-worker.ts";
import type { Case } from "./cases.ts";
import { type Comparison, type Measured, pairedRatio, type Target } from "./measure.ts";
import type { Table } from "./report.ts";
import { type RawAnswer, send } from "./send.ts";
import { StaticServer } from "./static-server.ts";
import { round } from "./statistics.ts";
import { workerdCpuMs } from "./workerd-process.ts";

/** Everybody who is compared with the service. */
type Name = "service" | "constant" | "stock" | "static";
type Results = ReadonlyMap<Name, Measured>;

export interface Servers {
  readonly worker: BenchWorker;
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
  return { worker, files: await StaticServer.start(say) };
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

const inWorkerd = (one: Case, port: number, path: string): Target => ({
  port,
  request: { ...one, path },
  cpuMs: workerdCpuMs,
});

/** The service, and the least that a Worker can do. */
function limitsOf({ worker: { port } }: Servers, one: Case): [Name, Target][] {
  return [
    ["service", inWorkerd(one, port, one.path)],
    ["constant", inWorkerd(one, port, `/constant/${one.name}${queryOf(one)}`)],
  ];
}

async function othersOf(
  { worker, files }: Servers,
  one: Case,
  first: RawAnswer,
): Promise<[Name, Target][]> {
  const targets: [Name, Target][] = [];
  if (one.stock) targets.push(["stock", inWorkerd(one, worker.stockPort, `/stock${one.path}`)]);
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
  return { port, request: { ...request, headers: prepared }, cpuMs };
}

/** The query string of a request, which the constant is asked with as well. */
function queryOf({ path }: Case): string {
  return path.includes("?") ? path.slice(path.indexOf("?")) : "";
}

/** The table of the page. */
export function servingTable(all: readonly Served[]): Table {
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
    rows: all.map(({ one, bytes, results }) => [
      one.name,
      String(bytes),
      round(results.get("service")?.requestsPerSecond ?? Number.NaN, 0),
      round(results.get("service")?.cpuMs ?? Number.NaN, 2),
      ...(["constant", "stock", "static"] as const).map((other) => cpuRatio(results, other)),
    ]),
  };
}

/** What another server takes for what the service takes; empty if that was not asked. */
function cpuRatio(results: Results, name: Name): string {
  const [service, other] = [results.get("service"), results.get(name)];
  if (service === undefined || other === undefined) return "";
  const value = pairedRatio(other, service, "cpuMs");
  return round(value, value < 10 ? 2 : 0);
}
