/**
 * `node bench/journeys.ts`: how much of `src` one has to read to follow five journeys. Runs the
 * Worker with a counter in each function, and prints for each journey the files, rooms and functions that ran
 * (`--files` lists them). What ran while modules were loaded does not count.
 */
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SourceMap } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseAst } from "vitest/node";
import { BenchWorker } from "./bench-worker.ts";
import { callsFor } from "./calls.ts";
import { printTable } from "./report.ts";
import { send } from "./send.ts";

const POLL_MS = 200;
/** After which nothing runs that an earlier call began. */
const SETTLED_MS = 3_000;

/** A function of `src`. */
interface Place {
  readonly file: string;
  /** Where it begins in the bundle. */
  readonly offset: number;
}

/** Has each function of a bundle that comes from `src` count its calls, and returns these functions. */
function countCalls(folder: string): readonly Place[] {
  const name = readdirSync(folder).find((file) => file.endsWith(".js"));
  if (name === undefined) throw new Error(`${folder} has no bundle`);
  const path = join(folder, name);
  const code = readFileSync(path, "utf8");
  const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8")));
  const lines = [...code.matchAll(/^/gm)].map(({ index }) => index);
  const places: Place[] = [];
  const insertions: { at: number; text: string }[] = [];
  walk(parseAst(code), (node) => {
    if (!/Function/.test(node.type) || !node.body) return;
    const line = lines.findLastIndex((start) => start <= node.start);
    const entry = map.findEntry(line, node.start - (lines[line] ?? 0));
    const file =
      "originalSource" in entry ? /\bsrc\/.*\.ts$/.exec(entry.originalSource)?.[0] : undefined;
    if (file === undefined || !existsSync(file)) return;
    const count = `globalThis.calls[${places.length}]=1`;
    places.push({ file, offset: node.start });
    if (node.body.type === "BlockStatement")
      insertions.push({ at: node.body.start + 1, text: `${count};` });
    else
      insertions.push(
        { at: node.body.start, text: `(${count},` },
        { at: node.body.end, text: ")" },
      );
  });
  let counting = code;
  for (const { at, text } of insertions.toSorted((a, b) => b.at - a.at))
    counting = counting.slice(0, at) + text + counting.slice(at);
  writeFileSync(path, `globalThis.calls=[];\n${counting}`);
  return places;
}

/** A node of ESTree, as far as it is looked at. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly body?: Node | null;
}

function walk(node: object, visit: (node: Node) => void): void {
  if ("type" in node) visit(node as Node); // ESTree: what has a type is a node
  for (const value of Object.values(node))
    if (typeof value === "object" && value !== null) walk(value, visit);
}

const received: string[] = [];
const webhook = createServer((request, response) => {
  received.push(request.url ?? "");
  response.end();
}).listen(0, "127.0.0.1");
await once(webhook, "listening");
const url = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/`;

let places: readonly Place[] = [];
const worker = await BenchWorker.start({
  entry: "src/worker/worker.ts",
  adapt: (folder) => {
    places = countCalls(folder);
  },
  inspected: true,
  vars: {
    COMPRESSION: "fast",
    LOCALES: "en",
    ALERT_DATA_OLD_MS: "86400000",
    ALERT_WEBHOOKS: JSON.stringify([{ name: "bench", kind: "alertmanager", url }]),
  },
});
const rows: string[][] = [];
try {
  let isolate = await worker.heap();
  await ingest("full");
  const [post] = callsFor("en");
  if (post === undefined) throw new Error("there are no calls");

  await journey("pause", () => worker.call("POST", "/admin/ingest/pause"));
  await worker.call("POST", "/admin/ingest/resume");
  await journey("webhook of an alert", async () => {
    await worker.call("POST", "/admin/alerts/run");
    while (received.length === 0) await sleep(POLL_MS);
  });
  await journey("row of CSV to a served byte", async () => {
    await ingest("full");
    await send(worker.port, post);
  });
  isolate.close();
  await worker.restart();
  isolate = await worker.heap();
  // Another request builds what an isolate has once.
  await send(worker.port, { ...post, method: "GET", path: "/nothing" });
  await journey("GetLocationsV1, cold", () => send(worker.port, post));
  await journey("GetLocationsV1, warm", () => send(worker.port, post));
  isolate.close();

  /** The functions that were called since it was asked last. */
  async function take(): Promise<readonly Place[]> {
    const calls = await isolate.evaluate<readonly unknown[]>("globalThis.calls.splice(0)");
    return places.filter((_, index) => calls[index] === 1);
  }

  async function journey(name: string, make: () => Promise<unknown>): Promise<void> {
    await sleep(SETTLED_MS);
    await take();
    await make();
    const called = await take();
    const files = [...new Set(called.map(({ file }) => file))].toSorted();
    const rooms = new Set(files.map((file) => file.split("/")[1]));
    rows.push([name, ...[files.length, rooms.size, called.length].map(String)]);
    if (process.argv.includes("--files"))
      process.stdout.write(`${name}\n  ${files.join("\n  ")}\n`);
  }
} finally {
  await worker.stop();
  webhook.close();
}
const columns = ["journey", "files", "rooms", "functions"];
process.stdout.write(printTable({ title: "Journeys", columns, rows }));

async function ingest(mode: string): Promise<void> {
  const queued = await worker.call("POST", "/admin/ingest/queue", { mode });
  const { run } = queued as { run: { id: string } }; // our API
  for (;;) {
    const { state, error } = (await worker.call("GET", `/admin/ingest/runs/${run.id}`)) as {
      state: string;
      error: unknown;
    };
    if (state === "succeeded") return;
    if (state === "failed") throw new Error(JSON.stringify(error));
    await sleep(POLL_MS);
  }
}
