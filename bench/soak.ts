/**
 * `npm run load`: many clients at once, in every protocol, locale and coding, while new versions
 * are published. Every byte is checked. Ends with an error if one answer is wrong, or if memory still
 * grows after the second minute, in a run of three or more.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { AnswerCheck } from "./answer-check.ts";
import { BenchWorker } from "./bench-worker.ts";
import { callsFor } from "./calls.ts";
import { ingest } from "./ingest.ts";
import type { LoadRequest } from "./load.ts";
import { type MemoryGrowth, memoryGrowth, type MemorySample } from "./memory-growth.ts";
import { printTable } from "./report.ts";
import { round } from "./statistics.ts";
import { workerdResidentMb } from "./workerd-process.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "300" },
    clients: { type: "string", default: "64" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npm run load -- [--seconds N] [--clients N]

  --seconds N   how long (default 300)
  --clients N   connections, each with one request at a time (default 64)
`);
  process.exit(0);
}

const LOCALES = ["en", "de", "ja", "ar", "pt-BR", "zh-TW", "fr", "xx"];
const CODINGS = ["br, gzip", "gzip", "identity", ""];
/** Between two publications. */
const PUBLISH_PAUSE_MS = 5_000;
const MEMORY_POLL_MS = 1_000;

const requests = LOCALES.flatMap((locale) =>
  callsFor(locale).flatMap((form) =>
    CODINGS.map((coding) => ({
      ...form,
      headers: { ...form.headers, ...(coding !== "" && { "accept-encoding": coding }) },
    })),
  ),
);
const check = new AnswerCheck();
/** One thread of workerd does everything, so requests wait while an ingest compresses. */
const latenciesMs = { quiet: new Array<number>(), ingesting: new Array<number>() };
let isIngesting = false;
const generations = new Map<string, number>();
const failures: string[] = [];
let bytes = 0;

/** A longer wait counts as a failure. */
const ANSWER_DEADLINE_MS = 60_000;

const worker = await BenchWorker.start();
const agent = new Agent({ keepAlive: true, maxSockets: Number(values.clients) });
try {
  say("first ingest …");
  await ingest(worker, {});
  const endAt = Date.now() + Number(values.seconds) * 1000;
  say(`${values.clients} clients for ${values.seconds} s …`);
  const [memory, published] = await Promise.all([
    watchMemory(endAt),
    publishUntil(endAt),
    ...Array.from({ length: Number(values.clients) }, (_, client) => callUntil(endAt, client)),
  ]);
  const growth = memoryGrowth(memory, Number(values.seconds));
  process.stdout.write(
    report({ maxMb: Math.max(...memory.map(({ mb }) => mb)), growth, published }),
  );
  if (failures.length > 0 || growth.isTooMuch) process.exitCode = 1;
} finally {
  agent.destroy();
  await worker.stop();
}

/** A client, which sends all requests one after the other, in a random order. */
async function callUntil(endAt: number, client: number): Promise<void> {
  for (let index = client * 7; Date.now() < endAt; index += 13) {
    const request = requests[index % requests.length];
    if (request === undefined) throw new Error("there are no requests");
    const startedAt = performance.now();
    try {
      const wasIngesting = isIngesting;
      await call(request);
      const bucket = wasIngesting || isIngesting ? "ingesting" : "quiet";
      latenciesMs[bucket].push(performance.now() - startedAt);
    } catch (error) {
      failures.push(`${request.method} ${JSON.stringify(request.headers)}: ${String(error)}`);
    }
  }
}

async function call({ method, path, headers, body }: LoadRequest): Promise<void> {
  const signal = AbortSignal.timeout(ANSWER_DEADLINE_MS);
  const to = { host: "127.0.0.1", port: worker.port, agent, signal };
  const sent = httpRequest({ ...to, method, path, headers });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage]; // the event's signature
  const received = await buffer(response);
  const header = (name: string) => response.headers[name]?.toString();
  check.check({ status: response.statusCode ?? 0, header, body: received });
  bytes += received.length;
  const generation = header("catalog-version") ?? "none";
  generations.set(generation, (generations.get(generation) ?? 0) + 1);
}

/** Publishes versions that differ by an airport, one after the other; how many they were. */
async function publishUntil(endAt: number): Promise<number> {
  const lines = gunzipSync(readFileSync("data/snapshot/airports.csv.gz")).toString().split("\n");
  await worker.drop("regions.csv.gz", readFileSync("data/snapshot/regions.csv.gz"));
  let published = 0;
  for (;;) {
    await sleep(PUBLISH_PAUSE_MS);
    if (Date.now() >= endAt) return published;
    const left = lines.toSpliced(2 + published, 1).join("\n");
    await worker.drop("airports.csv", Buffer.from(left));
    isIngesting = true;
    await ingest(worker, { source: "dropped" });
    isIngesting = false;
    published++;
  }
}

/** Resident memory of workerd, each second. */
async function watchMemory(endAt: number): Promise<readonly MemorySample[]> {
  const samples: MemorySample[] = [];
  const startedAt = Date.now();
  while (Date.now() < endAt) {
    samples.push({ seconds: (Date.now() - startedAt) / 1000, mb: workerdResidentMb() });
    await sleep(MEMORY_POLL_MS);
  }
  return samples;
}

interface Seen {
  readonly maxMb: number;
  readonly growth: MemoryGrowth;
  readonly published: number;
}

function report({ maxMb, growth, published }: Seen): string {
  const answers = latenciesMs.quiet.length + latenciesMs.ingesting.length;
  const rows = [
    ["answers, all checked to the byte", String(answers)],
    ["wrong or failed", String(failures.length)],
    ["different bodies, each decoded", String(check.bodies)],
    ["versions published meanwhile", String(published)],
    ["versions served", String(generations.size)],
    ["sent, MB", round(bytes / 2 ** 20, 0)],
    ["requests/s", round(answers / Number(values.seconds), 0)],
    ...percentiles("between ingests", latenciesMs.quiet),
    ...percentiles("during ingests", latenciesMs.ingesting),
    ["workerd at most, MB", round(maxMb, 0)],
    ["workerd in each minute, median MB", growth.minutes.map((mb) => round(mb, 0)).join(", ")],
  ];
  const title = `${values.clients} clients for ${values.seconds} s, on the same machine as the service`;
  const shown = failures.slice(0, 10).map((failure) => `FAILED ${failure}\n`);
  const grown = growth.isTooMuch ? "FAILED memory still grows after the second minute\n" : "";
  return `${printTable({ title, columns: ["", ""], rows })}\n${shown.join("")}${grown}`;
}

function percentiles(when: string, latencies: readonly number[]): string[][] {
  const sorted = latencies.toSorted((a, b) => a - b);
  return [0.5, 0.9, 0.99, 0.999].map((share) => [
    `p${share * 100} ${when}, ms`,
    round(sorted[Math.floor(sorted.length * share)] ?? Number.NaN, 0),
  ]);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
