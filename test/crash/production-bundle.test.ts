import { createHash, randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AnswerCheck } from "../../bench/answer-check.ts";
import { bundleWorker } from "../../bench/bundle.ts";
import { ingestCrons } from "../../src/schedule.ts";
import { Clients, REQUESTS } from "../chaos/clients.ts";
import type { StoredState } from "../chaos/evidence.ts";
import { NO_FAULTS } from "../chaos/fault-plan.ts";
import type { Injected } from "../chaos/faulty-calls.ts";
import { readHostConfig } from "../chaos/host-config.ts";
import { IsolateHeap } from "../chaos/isolate-heap.ts";
import { Random } from "../chaos/random.ts";
import { Report } from "../chaos/report.ts";
import { type Deploy, Service } from "../chaos/service.ts";
import { FEWEST_AIRPORTS, goodAirports, REGIONS_FILE } from "../chaos/upstream-files.ts";
import { CALL } from "../system/http.ts";
import { freePort } from "../system/running-service.ts";

/** What `GET /admin/ingest/runs/{id}` answers, as far as it is looked at here. */
interface RunAnswer {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly attempt: number;
  readonly stage: string;
  readonly progress: { readonly done: number };
  readonly generation_after: number | null;
  readonly error: { readonly code: string } | null;
}

type Vars = Parameters<Service["start"]>[0];

/** Bounds a hang only. */
const DEADLINE_MS = 600_000;
const POLL_MS = 100;
const CLIENTS = 50;
/** More often than an upstream may be silent. */
const DRIP_MS = 2_000;
/** Most that an isolate of Cloudflare Workers may hold. */
const ISOLATE_MB = 128;
/** The form of the call whose bodies are the largest, and how large they are at least. */
const LARGEST = "application/json";
const LARGEST_MB = 3;
const LOCALES = { LOCALES: "en,de" };
/** Writes are late, so that there is time to kill the process between them. */
const LATE = { seed: 1, rates: { kv: { slow: 1 } } };

const root = mkdtempSync(join(tmpdir(), "locations-bundle-"));
const token = randomBytes(32).toString("base64url");
const random = new Random(1, "bundle");
/** The code as it is, and as it was before, with other checkpoints. */
const present = join(root, "present");
const former = join(root, "former");
let service: Service;

beforeAll(async () => {
  bundleWorker("test/chaos/worker.ts", present);
  makeFormer();
  const sha256 = createHash("sha256").update(token).digest("hex");
  const config = readHostConfig();
  service = new Service({
    folder: root,
    config,
    bundle: present,
    port: await freePort(),
    secret: randomBytes(16).toString("hex"),
    vars: {
      ...config.vars,
      ADMIN_TOKENS: JSON.stringify([{ id: "test", sha256, scopes: ["read", "operate"] }]),
      SOURCE: "dropped",
      // Each drop is to be published as it is.
      SURPRISE_HOLD_MS: "0",
      SURPRISE_UNLISTED_PERCENT: "100",
    },
  });
});

afterAll(async () => {
  await service.kill();
  rmSync(root, { recursive: true, force: true });
});

/** A bundle whose checkpoints name something otherwise than the present code does. */
function makeFormer(): void {
  cpSync(present, former, { recursive: true });
  const file = join(former, "worker.js");
  const code = readFileSync(file, "utf8");
  const changed = code
    .replace(/CHECKPOINT_FORMAT = \d+/, "CHECKPOINT_FORMAT = 0")
    .replaceAll("judgedAgainst", "comparedWith");
  expect(changed).toContain("CHECKPOINT_FORMAT = 0");
  expect(changed).toContain("comparedWith");
  writeFileSync(file, changed);
}

async function restart(deploy?: Deploy, vars: Vars = {}): Promise<void> {
  await service.kill();
  await service.start({ ...LOCALES, ...vars }, deploy);
}

async function admin<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:${service.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function queue(body: object): Promise<string> {
  const { run } = await admin<{ run: RunAnswer }>("POST", "/admin/ingest/queue", body);
  return run.id;
}

async function runWhen(id: string, is: (run: RunAnswer) => boolean): Promise<RunAnswer> {
  for (const deadline = Date.now() + DEADLINE_MS; ; await sleep(POLL_MS)) {
    const run = await admin<RunAnswer>("GET", `/admin/ingest/runs/${id}`);
    if (is(run)) return run;
    if (Date.now() > deadline) throw new Error(`not in time: ${JSON.stringify(run)}`);
  }
}

const hasEnded = ({ state }: RunAnswer) => state !== "queued" && state !== "running";
const isEncoding = ({ stage, progress }: RunAnswer) => stage === "encode" && progress.done > 1;

/** Queues a run, and kills the process when the common part is being encoded. */
async function killWhileEncoding(body: object): Promise<string> {
  await service.control("drop?name=airports.csv", goodAirports(random));
  await service.control("drop?name=regions.csv.gz", REGIONS_FILE);
  await service.setPlan(LATE);
  const id = await queue({ source: "dropped", ...body });
  const run = await runWhen(id, (each) => isEncoding(each) || hasEnded(each));
  expect(run).toMatchObject({ state: "running", stage: "encode" });
  await service.kill();
  return id;
}

/** A client's answer, which is checked to the byte; the generation that it is of. */
async function ask(contentType = "application/proto"): Promise<number> {
  const isJson = contentType.endsWith("json");
  const answer = await fetch(`http://127.0.0.1:${service.port}${CALL}`, {
    method: "POST",
    headers: { "content-type": contentType, "accept-encoding": "identity" },
    body: isJson ? '{"locale":"de"}' : new Uint8Array([0x0a, 0x02, 0x64, 0x65]),
  });
  new AnswerCheck(FEWEST_AIRPORTS).check({
    status: answer.status,
    header: (name) => answer.headers.get(name) ?? undefined,
    body: new Uint8Array(await answer.arrayBuffer()),
  });
  return Number(answer.headers.get("catalog-version"));
}

/** As many clients at once, which all want the same. */
function largest(clients: number): Promise<number[]> {
  return Promise.all(Array.from({ length: clients }, () => ask(LARGEST)));
}

/** Clients that want every form and coding in two locales at once. */
async function everyForm() {
  const requests = REQUESTS.filter(({ locale, isTimed }) => /^(en|de)$/.test(locale) && !isTimed);
  const report = new Report();
  const clients = new Clients(service, report);
  const generations = await Promise.all(requests.map((request) => clients.call(request)));
  clients.close();
  expect(report.violations).toEqual([]);
  return generations;
}

const readState = async () => (await service.control("state")) as StoredState; // our worker

async function rowOf(id: string) {
  for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    const row = (await readState()).rows.find((each) => each.id === id);
    if (row !== undefined && row.state !== "queued" && row.state !== "running") return row;
  }
  throw new Error(`no row of ${id} has arrived`);
}

describe("a deploy in the middle of a run", () => {
  let first: string;

  it("of newer code, whose tables D1 lacks, publishes, and is served", async () => {
    await service.start(LOCALES, { bundle: former, migrate: false });
    first = await killWhileEncoding({});
    await service.start(LOCALES, { migrate: false });
    await service.setPlan(NO_FAULTS);
    const run = { state: "succeeded", outcome: "published", attempt: 1, generation_after: 1 };
    expect(await runWhen(first, hasEnded)).toMatchObject(run);
    expect(await ask()).toBe(1);
  });

  it("leaves no hole in the history: its row comes when the tables are there", async () => {
    await restart({ migrate: true, sql: ["ALTER TABLE ingest_runs ADD COLUMN mood TEXT"] });
    expect(await rowOf(first)).toMatchObject({ state: "succeeded", generation_after: 1 });
  });

  it("of older code, whose tables D1 has moved on from, publishes, and is in the history", async () => {
    const second = await killWhileEncoding({ mode: "full" });
    await service.start(LOCALES, { bundle: former });
    await service.setPlan(NO_FAULTS);
    const run = { state: "succeeded", outcome: "published", attempt: 1, generation_after: 2 };
    expect(await runWhen(second, hasEnded)).toMatchObject(run);
    expect(await rowOf(second)).toMatchObject({ state: "succeeded", generation_after: 2 });
    expect(await ask()).toBe(2);
  });
});

describe("an upstream that sends without end", () => {
  let requests: number;
  let answer: (response: ServerResponse) => void;
  const upstream = createServer((_, response) => {
    requests++;
    answer(response);
  });

  beforeAll(async () => {
    upstream.listen(0, "127.0.0.1");
    await once(upstream, "listening");
    const { port } = upstream.address() as AddressInfo; // of a TCP server
    const url = `http://127.0.0.1:${port}`;
    await restart(undefined, { SOURCE: "ourairports", SOURCE_URLS: `${url}/a.csv,${url}/r.csv` });
  });

  beforeEach(() => {
    requests = 0;
  });

  afterAll(() => {
    upstream.closeAllConnections();
    upstream.close();
  });

  it("is cut off at the limit, and what is served stays", async () => {
    answer = (response) => {
      const write = () => {
        while (response.write(Buffer.alloc(65_536, "a"))) if (response.destroyed) return;
      };
      response.on("drain", write);
      write();
    };
    const run = await runWhen(await queue({}), hasEnded);
    expect(run).toMatchObject({ state: "failed", error: { code: "source_too_large" } });
    expect(await ask()).toBe(2);
  });

  it("but drips is given up at the deadline for all files, and what is served stays", async () => {
    const hungUp = Promise.withResolvers<void>();
    answer = (response) => {
      if (requests > 1) return void response.writeHead(404).end(); // to the second try
      const timer = setInterval(() => response.write("a"), DRIP_MS);
      response.on("close", () => {
        clearInterval(timer);
        hungUp.resolve();
      });
    };
    const run = await runWhen(await queue({}), hasEnded);
    expect(run).toMatchObject({ state: "failed", attempt: 1, error: { code: "source_deadline" } });
    await hungUp.promise;
    expect(await ask()).toBe(2);
    const { runs } = await admin<{ runs: RunAnswer[] }>("GET", "/admin/ingest/runs?limit=1");
    const second = await runWhen(runs[0]?.id ?? "", hasEnded);
    expect(second).toMatchObject({ attempt: 2, error: { code: "source_http_refused" } });
  });
});

describe("a cron trigger", () => {
  it("that fires twice at once makes one run, and one that nobody knows makes none", async () => {
    await restart();
    const count = async () => {
      const { total } = await admin<{ total: number }>("GET", "/admin/ingest/runs?trigger=cron");
      return total;
    };
    const before = await count();
    const [cron = ""] = ingestCrons();
    const tick = `tick?cron=${encodeURIComponent(cron)}&at=${Date.now()}`;
    await Promise.all([service.control(tick), service.control(tick)]);
    await expect(service.control("tick?cron=nobody&at=1")).rejects.toThrow("500");
    expect(await count()).toBe(before + 1);
  });
});

describe("an admin body", () => {
  it.each([
    ["of a megabyte", JSON.stringify({ note: "a".repeat(1_000_000) }), 413],
    ["five thousand arrays deep", `{"note":${"[".repeat(5_000)}${"]".repeat(5_000)}}`, 400],
    ["with a key twice", '{"mode":"full","mode":"dry_run"}', 400],
    ["with __proto__", '{"__proto__":{"force":true}}', 400],
  ])("%s is refused, and the service goes on", async (_, body, status) => {
    const answer = await fetch(`http://127.0.0.1:${service.port}/admin/ingest/queue`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body,
    });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toContain("application/problem+json");
    expect(await ask()).toBeGreaterThan(0);
  });
});

describe("an isolate that holds nothing", () => {
  beforeAll(async () => {
    await restart();
    const id = await queue({ source: "embedded", force: true });
    const run = await runWhen(id, hasEnded);
    if (run.state !== "succeeded") throw new Error(JSON.stringify(run));
  });

  afterEach(() => service.setPlan(NO_FAULTS));

  it("serves from R2 while KV never answers", async () => {
    await service.setPlan({ seed: 1, rates: { kv: { hang: 1 } }, hangMs: 10 * DEADLINE_MS });
    await restart();
    expect(await ask()).toBe(3);
    await service.setPlan(NO_FAULTS);
    expect(await ask(LARGEST)).toBe(3);
  });

  it("serves what it holds while KV never answers, though it looks for newer at each request", async () => {
    await restart(undefined, { MANIFEST_FRESH_MS: "0" });
    expect(await ask()).toBe(3);
    await service.setPlan({ seed: 1, rates: { kv: { hang: 1 } }, hangMs: 10 * DEADLINE_MS });
    expect(await ask()).toBe(3);
  });

  it("answers every form and coding in two locales at once", async () => {
    await restart();
    expect(new Set(await everyForm())).toEqual(new Set([3]));
  });

  it(`answers ${CLIENTS} clients at once out of one read of each part`, async () => {
    const { kv } = await readState();
    const { segments = [] } = kv?.locales["de"]?.bodies.json.identity ?? {};
    const parts = segments.filter((segment) => "blob" in segment).length;
    await service.setPlan({ seed: 1, rates: { kv: { slow: 1 } } });
    await restart();
    expect(new Set(await largest(CLIENTS))).toEqual(new Set([3]));
    const { times } = (await service.control("injected")) as Injected; // our worker
    const reads = times["kv get slow"] ?? 0;
    expect(reads).toBeGreaterThan(parts);
    expect(reads).toBeLessThanOrEqual(2 * (1 + parts)); // once more where the machine is slow
  });

  it.each([
    ["every form and coding in two locales", everyForm],
    [`the largest body, ${CLIENTS} times`, () => largest(CLIENTS)],
  ])("holds less than an isolate may while it reads %s", async (_, answer) => {
    const inspectorPort = await freePort();
    await restart({ inspectorPort });
    const heap = await IsolateHeap.open(inspectorPort, "chaos");
    const beforeMb = await heap.heldMb();
    const peakMb = await heap.peakMbDuring(answer());
    heap.close();
    expect(peakMb).toBeGreaterThan(beforeMb + LARGEST_MB);
    expect(peakMb).toBeLessThan(ISOLATE_MB);
  });
});
