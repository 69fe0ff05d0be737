import type { BenchWorker } from "./bench-worker.ts";
import type { Case } from "./cases.ts";
import { type Comparison, type Measured, pairedRatio, type Target } from "./measure.ts";
import type { Table } from "./report.ts";
import { send } from "./send.ts";
import { round } from "./statistics.ts";
import { workerdCpuMs } from "./workerd-process.ts";

/** Everybody who is compared with the service. */
type Name = "service" | "constant" | "stock";
type Results = ReadonlyMap<Name, Measured>;

/** Lets the router learn the message. */
export async function teach(worker: BenchWorker, example: Case): Promise<void> {
  const { body } = await send(worker.port, example);
  await fetch(`http://127.0.0.1:${worker.stockPort}/learn-message`, { method: "POST", body });
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

/** Lets the constant learn the answer of a case. */
export async function prepareCase(worker: BenchWorker, one: Case): Promise<Prepared> {
  const { port, stockPort } = worker;
  const first = await send(port, one);
  const headers = one.prepare?.(one.headers, first.headers) ?? one.headers;
  const prepared: Case = { ...one, headers };
  const answer = await send(port, { ...prepared, path: `/learn/${one.name}${queryOf(one)}` });
  const learned = JSON.parse(answer.body.toString()) as { status: number; bytes: number }; // worker.ts
  if (learned.status !== one.status)
    throw new Error(`${one.name}: ${learned.status} instead of ${one.status}`);
  const inWorkerd = (at: number, path: string): Target => ({
    port: at,
    request: { ...prepared, path },
    cpuMs: workerdCpuMs,
  });
  const targets = new Map<Name, Target>([
    ["service", inWorkerd(port, one.path)],
    ["constant", inWorkerd(port, `/constant/${one.name}${queryOf(one)}`)],
  ]);
  if (one.stock) targets.set("stock", inWorkerd(stockPort, `/stock${one.path}`));
  return { one, bytes: learned.bytes, targets };
}

/** The query string of a request, which the constant is asked with as well. */
function queryOf({ path }: Case): string {
  return path.includes("?") ? path.slice(path.indexOf("?")) : "";
}

/** The table of the page. */
export function servingTable(all: readonly Served[]): Table {
  return {
    title:
      "Serving in English, and the CPU of others as a multiple of the service's. The limit is a Worker that returns the same bytes as a constant; the router is Connect's",
    columns: ["request", "bytes", "requests/s", "CPU ms", "limit / service", "router / service"],
    rows: all.map(({ one, bytes, results }) => [
      one.name,
      String(bytes),
      round(results.get("service")?.requestsPerSecond ?? Number.NaN, 0),
      round(results.get("service")?.cpuMs ?? Number.NaN, 2),
      ...(["constant", "stock"] as const).map((other) => cpuRatio(results, other)),
    ]),
  };
}

/** The CPU of another server relative to the service; empty if either was not measured. */
function cpuRatio(results: Results, name: Name): string {
  const [service, other] = [results.get("service"), results.get(name)];
  if (service === undefined || other === undefined) return "";
  const value = pairedRatio(other, service, "cpuMs");
  return round(value, value < 10 ? 2 : 0);
}
