/**
 * `npm run chaos`: the bundle that is deployed, under load, while its stores fail, its process is
 * killed, and operators publish, force, pause, roll back, cancel, back up and restore. A checker looks
 * at every answer, and at all stores once the faults are over. All decisions come from the seed; their
 * timing depends on the machine.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { isOpen } from "../../src/coordinator/jobs.ts";
import { Admin } from "./admin.ts";
import { Clients, REQUESTS } from "./clients.ts";
import type { StoredState } from "./evidence.ts";
import { NO_FAULTS } from "./fault-plan.ts";
import { checkInvariants, checkStores } from "./invariants.ts";
import type { Injected } from "./faulty-calls.ts";
import { type Coverage, findTooLittle } from "./floors.ts";
import { MALFORMED } from "./check-answer.ts";
import { Operator } from "./operator.ts";
import { Random } from "./random.ts";
import { checkReadRoutes } from "./read-routes.ts";
import { Report } from "./report.ts";
import { buildService } from "./service.ts";
import { REGIONS_FILE } from "./upstream-files.ts";
import { nextWeather } from "./weather.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: String(Date.now() % 1e6) },
    clients: { type: "string", default: "6" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(`Usage: npm run chaos -- [--seconds N] [--seed N] [--clients N]

  --seconds N   how long faults are injected (default 60)
  --seed N      what all decisions come from (default: another each time)
  --clients N   clients, each with one request at a time (default 6)
`);
  process.exit(0);
}

/** The locales of either deploy, and its default. */
const SETTINGS = [
  { LOCALES: "en,de,ja", DEFAULT_LOCALE: "en" },
  { LOCALES: "en,de,ja,ar", DEFAULT_LOCALE: "en" },
  { LOCALES: "en,de,ja", DEFAULT_LOCALE: "de" },
  { LOCALES: "fr,ja", DEFAULT_LOCALE: "fr" },
] as const;
/** How often a new start is followed by a look at every read route. */
const LOOK_CHANCE = 0.5;
const WEATHER_MS = { least: 1_500, most: 5_000 };
const LIFE_MS = { least: 8_000, most: 18_000 };
const DEAD_MS = { least: 0, most: 1_500 };
const CONVERGENCE_DEADLINE_MS = 240_000;
/** A run may wait for a minute until no deletion can be carried out late. */
const PUBLISH_DEADLINE_MS = 150_000;
/** How long an isolate may serve a held version: its freshness, and its pause after a fault. */
const FRESH_DEADLINE_MS = 15_000;
const POLL_MS = 500;

const seed = Number(values.seed);
const durationMs = Number(values.seconds) * 1000;
if (!Number.isFinite(seed) || !(durationMs > 0))
  throw new Error("--seed and --seconds are numbers");
const folder = mkdtempSync(join(tmpdir(), "locations-chaos-"));
const token = randomBytes(32).toString("base64url");
const report = new Report();
say(`seed ${seed}: bundling …`);
const service = await buildService(folder, token, {
  MANIFEST_FRESH_MS: "500",
  // Too few bytes for all bodies, so that stores are read again and again.
  CACHE_MAX_BYTES: String(2 * 1024 * 1024),
});
const clients = new Clients(service, report);
const admin = new Admin(service, report, token);
const operator = new Operator({ admin, service, report, seed });
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
let hasEnded = false;
try {
  await main();
  hasEnded = true;
} finally {
  clients.close();
  await service.kill();
  if (hasEnded && report.violations.length === 0) rmSync(folder, { recursive: true, force: true });
  else process.stderr.write(`The stores and the Worker's log are left in ${folder}\n`);
}

async function main(): Promise<void> {
  await service.start(SETTINGS[0]);
  say("first ingest …");
  await service.control("drop?name=regions.csv.gz", REGIONS_FILE);
  await publishOne("the first ingest");
  say(`chaos for ${values.seconds} s …`);
  const before = await newestGeneration();
  const endAt = Date.now() + durationMs;
  const [injected] = await Promise.all([
    countInjected(endAt),
    operator.workUntil(endAt),
    changeWeather(endAt),
    killUntil(endAt),
    ...Array.from({ length: Number(values.clients) }, async (_, client) =>
      clients.callUntil(endAt, new Random(seed, `client ${client}`)),
    ),
  ]);
  say("the faults are over; waiting until everything agrees …");
  await service.setClock(0);
  const seen = { seconds: durationMs / 1000, checked: clients.checked, kills: service.life - 1 };
  await operator.resume();
  await operator.takeBack();
  const convergedMs = await converge();
  const publications = (await newestGeneration()) - before;
  await publishOne("an ingest after the faults");
  await operator.restorer.restoreNew();
  await operator.resume();
  await converge();
  await serveCurrent();
  await finish(convergedMs, { ...seen, publications, injected });
}

/** Queues a run and waits until a version is out. */
async function publishOne(what: string): Promise<void> {
  const deadline = Date.now() + PUBLISH_DEADLINE_MS;
  const random = new Random(seed, what);
  const before = await newestGeneration();
  while (Date.now() < deadline) {
    await operator.publish(random, { force: true });
    await operator.untilIdle(deadline - Date.now());
    if ((await newestGeneration()) > before) return;
  }
  report.violate({ invariant: "convergence", what: `${what} published nothing in time` });
}

/** No faults outlast it, so that all that waits for a store continues. */
async function changeWeather(endAt: number): Promise<void> {
  const weather = new Random(seed, "weather");
  while (Date.now() < endAt) {
    const { name, plan } = nextWeather(weather);
    report.count("weather", name);
    await service.setPlan(plan);
    await sleep(weather.between(WEATHER_MS.least, WEATHER_MS.most));
  }
  await service.setPlan(NO_FAULTS);
}

/** Kills the process, and starts it on the same storage, as it was or with another configuration. */
async function killUntil(endAt: number): Promise<void> {
  const death = new Random(seed, "death");
  for (;;) {
    const lifeMs = death.between(LIFE_MS.least, LIFE_MS.most);
    if (Date.now() + lifeMs >= endAt) return;
    await sleep(lifeMs);
    const { stage } = operator.restorer;
    await service.kill();
    await sleep(death.between(DEAD_MS.least, DEAD_MS.most));
    const settings = death.pick(SETTINGS);
    await service.start(settings);
    const { LOCALES, DEFAULT_LOCALE } = settings;
    report.count("killed", `process, started again with ${LOCALES}, of which ${DEFAULT_LOCALE}`);
    if (death.chance(LOOK_CHANCE)) await checkReadRoutes(admin, report, "after a kill");
    if (stage !== undefined) report.count("killed", `process, in the stage ${stage} of a restore`);
  }
}

/** Faults in the last moment before a kill are not counted. */
async function countInjected(endAt: number): Promise<number> {
  let all = 0;
  while (Date.now() < endAt) {
    await sleep(POLL_MS);
    const injected = (await service.control("injected")) as Injected; // our worker
    for (const [what, times] of Object.entries(injected)) {
      report.count("injected", what, times);
      all += times;
    }
  }
  return all;
}

/** Waits until nothing is in progress and the stores agree; how long it took (ms). */
async function converge(): Promise<number> {
  const startedAt = Date.now();
  for (;;) {
    const state = await readState();
    const open = state.truth.runs.filter((run) => isOpen(run.state));
    const waits = [...checkStores(state), ...open];
    if (waits.length === 0) return Date.now() - startedAt;
    if (Date.now() - startedAt > CONVERGENCE_DEADLINE_MS) {
      const what = `not after ${CONVERGENCE_DEADLINE_MS} ms: ${JSON.stringify(waits)}`;
      report.violate({ invariant: "convergence", what });
      return Date.now() - startedAt;
    }
    await sleep(POLL_MS);
  }
}

/** Every form of the call gets the current version, now that nothing fails. */
async function serveCurrent(): Promise<void> {
  const current = await newestGeneration();
  const deadline = Date.now() + FRESH_DEADLINE_MS;
  const [first] = REQUESTS;
  if (first === undefined) throw new Error("there are no requests");
  while (Date.now() < deadline && (await clients.call(first)) !== current) await sleep(POLL_MS);
  for (const request of REQUESTS) {
    const generation = await clients.call(request);
    if (generation === current || request.locale === MALFORMED) continue;
    const what = `generation ${generation} instead of ${current}: ${JSON.stringify(request)}`;
    report.violate({ invariant: "convergence", what });
  }
}

async function finish(convergedMs: number, coverage: Coverage): Promise<void> {
  const state = await readState();
  const { operated } = operator;
  const evidence = {
    served: clients.served.values(),
    shown: [state.kv ?? [], state.r2 ?? []].flat(),
    older: clients.older,
    operated,
    state,
    defaultLocales: [...new Set(SETTINGS.map(({ DEFAULT_LOCALE }) => DEFAULT_LOCALE))],
  };
  for (const violation of checkInvariants(evidence)) report.violate(violation);
  for (const what of findTooLittle(coverage)) report.violate({ invariant: "too little", what });
  for (const { state: end, outcome } of state.rows)
    report.count("runs", outcome === null ? end : `${end}: ${outcome}`);
  report.count("checked", "generations published", await newestGeneration());
  report.count("checked", "of them, for what was asked amid the faults", coverage.publications);
  report.count("checked", "answers amid the faults, to the byte", coverage.checked);
  report.count("checked", "rollbacks acknowledged", operated.rollbacks.size);
  report.count("checked", "restores that succeeded", operated.restores.length);
  const byOther = state.otherRows.filter(({ outcome }) => outcome === "published");
  report.count("checked", "generations published by the other installation", byOther.length);
  report.count("checked", "enqueues acknowledged", operated.acknowledged.size);
  report.count("checked", "pauses acknowledged", operated.pauses.length);
  report.count("checked", "different bodies, each decoded", clients.check.bodies);
  report.count("checked", "seconds until everything agreed", Math.round(convergedMs / 1000));
  report.count("checked", "violations", report.violations.length);
  process.stdout.write(`seed ${seed}, ${values.seconds} s\n${report.print()}`);
  if (report.violations.length === 0) return;
  process.exitCode = 1;
  const file = join(folder, "violations.json");
  writeFileSync(file, JSON.stringify({ seed, violations: report.violations, state }, null, 2));
  process.stdout.write(`\nVIOLATED with seed ${seed}: see ${file}\n`);
}

async function newestGeneration(): Promise<number> {
  return (await readState()).truth.manifests.at(-1)?.generation ?? 0;
}

async function readState(): Promise<StoredState> {
  return (await service.control("state")) as StoredState; // our worker
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
