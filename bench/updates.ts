import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import type { BenchWorker } from "./bench-worker.ts";
import { callsFor } from "./calls.ts";
import { heardOf, ingest } from "./ingest.ts";
import type { LoadRequest } from "./load.ts";
import type { Table } from "./report.ts";
import { send } from "./send.ts";
import { round } from "./statistics.ts";
import { type LoggedStep, StepCosts } from "./step-costs.ts";

/** As many earlier contents as have deltas. */
const UPDATES = 3;
const RENAMED = 10;
const DCZ_HEADER_BYTES = 40;
const POLL_MS = 500;
/** The language that a client with English asks for next. */
const OTHER_LOCALE = "de";

/**
 * Publishes versions that differ in ten airports' names, and measures what their deltas add to a
 * publication and save a client that has the version before. `attach` is given what hears the log.
 */
export async function measureUpdates(
  worker: BenchWorker,
  attach: (steps: StepCosts) => void,
): Promise<Table> {
  const rows: string[][] = [];
  await publish(worker, 0);
  for (let update = 1; update <= UPDATES; update++) {
    const steps = new StepCosts({ nameOf: deltasApart(update) });
    attach(steps);
    const known = await Promise.all(gets().map((get) => bodyOf(worker, get)));
    steps.begin();
    await publish(worker, update);
    await heardOf(steps, "verify");
    const cpuMs = steps.all.reduce((total, step) => total + step.cpuMs, 0);
    const deltasMs = steps.all.find(({ name }) => name === "deltas")?.cpuMs ?? 0;
    const sizes = await Promise.all(
      gets().map((get, index) => deltaBytes(worker, get, known[index] ?? Buffer.alloc(0))),
    );
    const others = await Promise.all(
      gets(OTHER_LOCALE).map((get, index) =>
        deltaBytes(worker, get, known[index] ?? Buffer.alloc(0)),
      ),
    );
    rows.push([
      String(update),
      round(cpuMs, 0),
      round(deltasMs, 0),
      round(deltasMs / cpuMs, 3),
      ...[...sizes, ...others].map(String),
    ]);
  }
  return {
    title: `A publication after ${RENAMED} renamed airports, with deltas from 1 to ${UPDATES} earlier contents, and what a client downloads that has the English answer of the one before`,
    columns: [
      "contents",
      "CPU ms",
      "of deltas",
      "share",
      "bytes, protobuf",
      "bytes, JSON",
      "German, protobuf",
      "German, JSON",
    ],
    rows,
  };
}

/** The deltas are the last steps of the encode stage. */
function deltasApart(contents: number): (step: LoggedStep) => string {
  return ({ stage, progress }) =>
    stage === "encode" && progress.done > progress.total - contents ? "deltas" : stage;
}

/**
 * Ingests the snapshot's airports with some of their names changed, and waits until they are served. The
 * first update shifts base64, and those after it do not, as their names are as long.
 */
export async function publish(worker: BenchWorker, update: number): Promise<void> {
  let left = update === 0 ? 0 : RENAMED;
  const airports = snapshot("airports.csv.gz").replaceAll(" Airport", (name) =>
    left-- > 0 ? ` Aerodrome ${update}` : name,
  );
  await worker.drop("airports.csv", Buffer.from(airports));
  await worker.drop("regions.csv", Buffer.from(snapshot("regions.csv.gz")));
  const { generation_before, generation_after } = await ingest(worker, { source: "dropped" });
  await served(worker, generation_after ?? generation_before ?? 0);
}

function snapshot(name: string): string {
  return gunzipSync(readFileSync(`data/snapshot/${name}`)).toString();
}

function gets(locale = "en"): readonly LoadRequest[] {
  return callsFor(locale).filter(({ method }) => method === "GET");
}

async function bodyOf({ port }: BenchWorker, get: LoadRequest): Promise<Buffer> {
  const { body } = await send(port, { ...get, headers: { "accept-encoding": "identity" } });
  return body;
}

/** Waits until the isolate, which holds a manifest for half a minute, serves this version. */
async function served({ port }: BenchWorker, generation: number): Promise<void> {
  const isOld = async (get: LoadRequest) =>
    Number((await send(port, get)).headers.get("catalog-version")) < generation;
  while ((await Promise.all(gets().map(isOld))).includes(true)) await sleep(POLL_MS);
}

/** Asks as a browser that has a dictionary, decodes the answer, and returns its length. */
async function deltaBytes(
  worker: BenchWorker,
  get: LoadRequest,
  dictionary: Buffer,
): Promise<number> {
  const hash = createHash("sha256").update(dictionary).digest("base64");
  const headers = { "accept-encoding": "dcz", "available-dictionary": `:${hash}:` };
  const { body } = await send(worker.port, { ...get, headers });
  const decoded = zstdDecompressSync(body.subarray(DCZ_HEADER_BYTES), { dictionary });
  if (!decoded.equals(await bodyOf(worker, get))) throw new Error("a delta decodes to other bytes");
  return body.length;
}
