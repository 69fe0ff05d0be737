import type { BenchWorker } from "./bench-worker.ts";
import { callsFor } from "./calls.ts";
import type { Table } from "./report.ts";
import { send } from "./send.ts";
import { round } from "./statistics.ts";
import { workerdCpuMs } from "./workerd-process.ts";

const CODINGS = ["br", "gzip", "identity"];

/** Reads of KV by a client that asks for every form of all locales in turn, by coding. */
export async function measureWarm(worker: BenchWorker): Promise<Table> {
  const { locales } = await worker.health();
  const calls = locales.flatMap(({ locale }) => callsFor(locale));
  const rows: string[][] = [];
  await worker.restart();
  for (const codings of [["br"], ["br", "gzip"], CODINGS]) {
    await askAll(worker, calls, codings);
    const { kvReads, cpuMs } = await askAll(worker, calls, codings);
    const requests = calls.length * codings.length;
    rows.push([codings.join(", "), round(kvReads / requests, 2), round(cpuMs / requests, 2)]);
  }
  return {
    title: `Every form of ${locales.length} locales in turn, the second time, one request at a time`,
    columns: ["codings", "KV reads a request", "CPU ms a request"],
    rows,
  };
}

async function askAll(
  { port }: BenchWorker,
  calls: ReturnType<typeof callsFor>,
  codings: readonly string[],
): Promise<{ readonly kvReads: number; readonly cpuMs: number }> {
  const [reads, cpu] = [await kvReadsOf(port), workerdCpuMs()];
  for (const coding of codings)
    for (const call of calls) {
      const headers = { ...call.headers, "accept-encoding": coding };
      const { status } = await send(port, { ...call, headers });
      if (status !== 200) throw new Error(`${status} instead of 200`);
    }
  return { kvReads: (await kvReadsOf(port)) - reads, cpuMs: workerdCpuMs() - cpu };
}

async function kvReadsOf(port: number): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/kv-reads`);
  const { kvReads } = await answer.json<{ kvReads: number }>(); // worker.ts
  return kvReads;
}
