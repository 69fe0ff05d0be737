import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ScheduledJob } from "../../../../src/admin/admin-platform.ts";
import { answerQuestions } from "../../../../src/admin/monitor/answers.ts";
import type { Stage } from "../../../../src/schemas/run-words.ts";
import { RULE_NAMES } from "../../../../src/schemas/rule-names.ts";
import { DEFAULT_LIMITS, HOUR_MS, MINUTE_MS } from "../../../builders/facts.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { BackupWorld } from "../../../builders/backup-world.ts";
import { startEachFrom } from "../../../builders/coordinator-world.ts";
import { OPERATOR_TOKEN } from "../../../builders/admin-tokens.ts";
import { anAlertResult, anAlertRun } from "../../../builders/alert-run.ts";

const installation = new BackupWorld(undefined, ["en"]);
startEachFrom(installation, () => new AdminWorld(installation).makeHealthy());
let world: AdminWorld;

/** An installation that has published, backed up and evaluated, an hour ago at the most. */
beforeEach(async () => {
  world = new AdminWorld(installation);
  await world.watch();
});

interface Status {
  readonly status: string;
  readonly output?: string;
  readonly checks: { readonly [name: string]: readonly object[] };
}

async function monitor(status = 200): Promise<Status> {
  const answer = await world.request("/admin/monitor/status");
  expect(answer.headers.get("content-type")).toBe("application/health+json");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(answer.status).toBe(status);
  return answer.json();
}

/** The status once so many milliseconds have passed since it was asked for. */
async function monitorAfter(ms: number, status: number): Promise<Status> {
  vi.useFakeTimers();
  try {
    const asked = monitor(status);
    await vi.advanceTimersByTimeAsync(ms);
    return await asked;
  } finally {
    vi.useRealTimers();
  }
}

describe("GET /admin/monitor/status", () => {
  it("passes while nothing is wrong, and shows each check", async () => {
    const { status, output, checks } = await monitor();
    expect({ status, output }).toEqual({ status: "pass", output: undefined });
    const names = "audit catalog coordinator d1 ingest kv monitor r2 rule";
    const components = Object.keys(checks).map((name) => name.split(":")[0]);
    expect(new Set(components)).toEqual(new Set(names.split(" ")));
    const rules = Object.keys(checks).filter((name) => name.startsWith("rule:"));
    expect(new Set(rules)).toEqual(new Set(RULE_NAMES.map((rule) => `rule:${rule}`)));
    expect(checks["kv:responseTime"]).toEqual([
      { status: "pass", observedValue: 0, observedUnit: "ms" },
    ]);
  });

  it.each(["kv", "d1", "r2"] as const)("fails while %s refuses", async (name) => {
    world.probes = { ...world.probes, [name]: async () => Promise.reject(new Error("down")) };
    const { status, output } = await monitor(503);
    expect({ status, output }).toEqual({
      status: "fail",
      output: `${name}:responseTime: it does not answer`,
    });
  });

  it("waits for a hanging store only for a limited time, and checks the others", async () => {
    world.probes = { ...world.probes, kv: () => new Promise(() => {}) };
    const { output, checks } = await monitorAfter(1_000, 503);
    expect(output).toBe("kv:responseTime: no answer within 1000 ms");
    expect(checks["r2:responseTime"]).toMatchObject([{ status: "pass" }]);
  });

  it("fails while the coordinator is away, and still shows the rest", async () => {
    world.breakCalls("coordinator");
    expect(await monitor(503)).toMatchObject({
      status: "fail",
      checks: {
        "coordinator:responseTime": [{ status: "fail" }],
        "rule:ingest_failing": [{ status: "pass" }],
        "catalog:present": [{ status: "pass" }],
      },
    });
  });

  it("only warns while a step keeps the coordinator busy", async () => {
    world.before = async (call) => {
      if (call.startsWith("coordinator")) await new Promise(() => {});
    };
    expect(await monitorAfter(2_000, 200)).toMatchObject({
      status: "warn",
      output: "coordinator:responseTime: no answer in time; a step of a run may be keeping it busy",
      checks: { "rule:ingest_failing": [{ status: "pass" }] },
    });
  });

  it("fails while the monitor does not answer", async () => {
    world.breakCalls("monitor");
    const { output, checks } = await monitor(503);
    expect(output).toBe("monitor:responseTime: it does not answer");
    expect(checks).not.toHaveProperty("rule:catalog_stale");
  });

  it("fails once an evaluation is late by the limit of the alerts, and shows the last findings", async () => {
    world.ingest.time += 15 * MINUTE_MS - 1;
    expect(await monitor()).toMatchObject({ status: "pass" });
    world.ingest.time += 1;
    const at = world.monitor.at();
    expect(await monitor(503)).toMatchObject({
      status: "fail",
      output: expect.stringContaining("monitor:evaluation: the rules were last evaluated"),
      checks: { "rule:backup_stale": [{ status: "pass", time: at }] },
    });
  });
});

/** The answers of the status, or of the public summary, by question. */
async function answers(path = "/admin/monitor/status") {
  const { answers: list } = await (
    await world.request(path)
  ).json<{ answers: readonly Answer[] }>();
  return Object.fromEntries(
    list.map(({ question, status, at, answer, details }) => [
      question,
      { status, at, answer, text: details.map(({ text }) => text).join("; "), details },
    ]),
  );
}

interface Answer {
  readonly question: string;
  readonly status: string;
  readonly at: string;
  readonly answer: string;
  readonly details: readonly {
    readonly text: string;
    readonly at: string | null;
    readonly links: readonly { readonly href: string }[];
  }[];
}

/** An answer as far as it is compared. */
const say = (status: string, answer: string, text = "") => ({
  status,
  answer,
  text: expect.stringContaining(text),
});

/** Every check that can fail. */
const CHECKS = [
  ...["kv", "d1", "r2", "coordinator", "monitor", "audit"].map((name) => `${name}:responseTime`),
  "monitor:evaluation",
  "monitor:webhooks",
  ...["present", "age", "integrity", "counts", "locales"].map((name) => `catalog:${name}`),
  ...RULE_NAMES.map((name) => `rule:${name}`),
];

describe("the status after a loss in the stores", () => {
  it("fails at every route if all is lost, although this isolate still serves from its memory", async () => {
    const isolate = world.newIsolate();
    const ask = async (path: string) => {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
      const answer = await isolate.request(path, { headers });
      const body = await answer.json<Status & { answers: readonly Answer[] }>();
      return { http: answer.status, ...body };
    };
    const paths = ["/catalog/health", "/admin/monitor/status", "/dashboard/summary"];
    const before = await Promise.all(paths.map(ask));
    expect(before.map(({ status }) => status)).toEqual(["pass", "pass", "pass"]);
    for (const store of [world.store, world.monitor.store]) {
      store.kv.clear();
      store.bucket.files.clear();
    }
    world.ingest.time += 5_000;
    await world.evaluate();
    const [health, status, summary] = await Promise.all(paths.map(ask));
    expect(health).toMatchObject({ http: 503, status: "fail" });
    const served = expect.arrayContaining([
      expect.objectContaining({ question: "served", status: "fail", answer: "No" }),
    ]);
    expect(status).toMatchObject({ http: 503, status: "fail", answers: served });
    expect(summary).toMatchObject({ http: 200, status: "fail", answers: served });
    const { worst, results } = world.monitor.monitor.status().lastRun ?? {};
    expect(worst).toBe("fail");
    expect(results?.find(({ rule }) => rule === "catalog_stale")).toMatchObject({
      state: "firing",
      status: "fail",
      severity: "fail",
    });
  });

  it("says in its first answer that blobs are lost, once the monitor has found it", async () => {
    const damaged = { rule: "blobs_lost", status: "fail" } as const;
    const lost = anAlertResult({ ...damaged, message: "1 blob has no intact copy." });
    const run = anAlertRun({ started_at: world.monitor.at(), results: [lost] });
    const last = { ...world.monitor.monitor.status(), lastRun: run };
    world.monitor.monitor.status = () => last;
    expect((await answers())["served"]).toMatchObject(
      say("fail", "Not all of it", "1 blob has no intact copy."),
    );
  });
});

describe("the five answers", () => {
  it("pass while nothing is wrong", async () => {
    expect(await answers()).toMatchObject({
      served: say("pass", "Yes", "Version 1; "),
      fresh: say(
        "pass",
        "As of 2026-10-20",
        "The data is 31 days old; the limit is 2 years; Published; Last compared with its source",
      ),
      failed: say("pass", "Nothing"),
      changed: say("pass", "Version 1"),
      next: say("pass", "The next ingest", "Next evaluation of the alerts"),
    });
  });

  /** The public answers if one check fails. */
  const withFailing = (name: string, jobs: readonly ScheduledJob[] = []) => {
    const checks = { [name]: [{ status: "fail", output: `${name} is broken` }] } as const;
    const parts = { at: world.ingest.time, manifest: null, coordinator: null, monitor: null };
    const observation = { ...parts, changes: null, checks, limits: DEFAULT_LIMITS };
    const publicAnswers = answerQuestions(observation, { jobs, isPublic: true });
    return Object.fromEntries(publicAnswers.map((answer) => [answer.question, answer]));
  };

  it.each(CHECKS)("show on the first screen that %s fails, and what to do", (name) => {
    const { failed } = withFailing(name);
    expect(failed).toMatchObject({ status: "fail", answer: "1 problem" });
    expect(failed?.details).toMatchObject([
      { links: [{ href: expect.stringMatching(/^\/docs/) }] },
    ]);
    const [component = "", rule = ""] = name.split(":");
    const text = component === "rule" ? rule.replaceAll("_", " ") : `${name} is broken`;
    expect(failed?.details[0]?.text).toContain(text);
  });

  it.each(CHECKS.filter((name) => name.startsWith("catalog:")))(
    "say that nothing is served where %s fails",
    (name) => expect(withFailing(name)["served"]).toMatchObject({ status: "fail", answer: "No" }),
  );

  it.each(["monitor:responseTime", "monitor:evaluation", "rule:catalog_stale", "rule:data_old"])(
    "say that it is not fresh where %s fails",
    (name) => expect(withFailing(name)["fresh"]).toMatchObject({ status: "fail" }),
  );

  it.each(["audit:responseTime", "rule:history_lost"])(
    "say that the audit is not whole where %s fails",
    (name) => expect(withFailing(name)["changed"]).toMatchObject({ status: "fail" }),
  );

  it.each([
    ["rule:data_old", []],
    ["monitor:evaluation", ["evaluation", "ingest"]],
    ["rule:monitor_gap", ["evaluation"]],
    ["rule:ticks_missed", ["ingest"]],
  ])("promise nothing whose trigger is silent: where %s fails", (name, unsure) => {
    const jobs = [
      { cron: "*/5 * * * *", job: "watch" },
      { cron: "17 4 * * *", job: "ingest" },
    ] as const;
    const scheduled = withFailing(name, jobs)["next"]?.details.slice(-2) ?? [];
    const unsureOf = scheduled.filter(({ text }) => text.endsWith(", if its trigger comes"));
    expect(unsureOf.map(({ text }) => /^Next (\w+)/.exec(text)?.[1])).toEqual(unsure);
  });

  it("include every check that the service has", async () => {
    const { checks } = await monitor();
    // These only show what is in progress; the pause is in what happens next.
    const shown = Object.keys(checks).filter((name) => !name.startsWith("ingest:"));
    expect(new Set(shown)).toEqual(new Set(CHECKS));
  });

  it("say when they were evaluated: by the last evaluation, or now", async () => {
    const evaluated = world.monitor.at();
    world.ingest.time += MINUTE_MS;
    const now = new Date(world.ingest.time).toISOString();
    const at = async () =>
      Object.entries(await answers()).map(([question, answer]) => [question, answer.at]);
    expect(Object.fromEntries(await at())).toEqual({
      served: now,
      fresh: evaluated,
      failed: evaluated,
      changed: now,
      next: now,
    });
  });

  it("say how far the first run is, and count it as no failure", async () => {
    world = new AdminWorld();
    await world.ingest.enqueue();
    await world.ingest.alarm();
    const { served, failed } = await answers();
    expect(served).toMatchObject(say("warn", "Not yet", "the first run is in progress, in stage"));
    expect(failed?.text).not.toContain("first run");
  });

  it("say that nothing is served if no first run is in progress", async () => {
    world = new AdminWorld();
    expect(await answers()).toMatchObject({
      served: say("fail", "No", "nothing is published, or both stores have lost"),
      next: say(
        "pass",
        "Unknown: the triggers are late",
        "The next run finds which changes by upstream wait.",
      ),
    });
  });

  it("say that nothing is known while the monitor and the coordinator are away", async () => {
    world.breakCalls("");
    expect(await answers()).toMatchObject({
      served: say("pass", "Yes"),
      fresh: say("fail", "As of 2026-10-20", "it does not answer"),
      failed: say("fail", "2 problems", "monitor: it does not answer"),
      next: say("fail", "Unknown", "The coordinator: it does not answer"),
    });
  });

  it("say what to do if a later Worker has changed the tables of the coordinator", async () => {
    const refusal = "The tables of the coordinator have version 2.";
    world.before = (call) => {
      // RPC keeps the name of an error, and drops its class.
      if (call.startsWith("coordinator"))
        throw Object.assign(new Error(refusal), { name: "OtherVersion" });
    };
    expect(await answers()).toMatchObject({
      failed: say("fail", "1 problem", `coordinator: ${refusal}`),
    });
    const answer = await world.post("/admin/ingest/pause", {});
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: "other_version", detail: refusal });
  });

  it("link a failure to its run and its runbook, but give the public only its name", async () => {
    const fetch = () => Promise.reject(new Error("bug"));
    world.ingest.upstream = { ...world.ingest.upstream, fetch };
    const { id } = await world.ingest.runToEnd();
    await world.evaluate();
    const { failed } = await answers();
    expect(failed).toMatchObject(
      say("warn", "1 problem", "1 run has failed, the last with internal"),
    );
    expect(failed?.details[0]?.links.map(({ href }) => href)).toEqual([
      "/docs/alerts#ingest_failing",
      `#runs/${id}`,
    ]);
    const { failed: shown } = await answers("/dashboard/summary");
    expect(shown).toMatchObject({ answer: "1 problem", text: "ingest failing" });
    expect(shown?.details[0]?.links.map(({ href }) => href)).toEqual([
      "/docs/alerts#ingest_failing",
    ]);
  });

  it("show a run that has just failed before what the last evaluation found, as severe as each is", async () => {
    const silent = anAlertResult({
      rule: "notify_failing",
      status: "warn",
      message: "No webhook.",
    });
    const run = anAlertRun({ started_at: world.monitor.at(), results: [silent] });
    const last = { ...world.monitor.monitor.status(), lastRun: run };
    world.monitor.monitor.status = () => last;
    const fetch = () => Promise.reject(new Error("bug"));
    world.ingest.upstream = { ...world.ingest.upstream, fetch };
    const { id } = await world.ingest.runToEnd();
    const { failed } = await answers();
    expect(failed).toMatchObject({ status: "warn", answer: "2 problems" });
    expect(failed?.details).toMatchObject([
      {
        status: "warn",
        text: expect.stringMatching(/^1 run has failed/),
        links: [{ href: "/docs/alerts#ingest_failing" }, { href: `#runs/${id}` }],
      },
      { status: "warn", text: "No webhook." },
    ]);
  });

  it("point at the changes that wait for a decision", async () => {
    const held = { waiting: 10, oldest_since: "2026-11-20T00:00:00.000Z", next_due_at: null };
    const coordinator = { ...world.ingest.coordinator.status(), held };
    const others = { at: world.ingest.time, manifest: null, monitor: null, changes: null };
    const observation = { ...others, coordinator, checks: {}, limits: DEFAULT_LIMITS };
    const next = answerQuestions(observation, { jobs: [], isPublic: false }).at(-1);
    expect(next).toMatchObject({ status: "warn", answer: "10 changes to decide on" });
    expect(next?.details).toMatchObject([
      {
        status: "warn",
        text: "At the last run, 10 changes by upstream waited for a decision.",
        links: [{ href: "#held" }],
      },
      { text: "The oldest of them was first seen", at: held.oldest_since },
      { text: "They wait until somebody decides." },
    ]);
  });

  it("name who paused and until when, but give the public neither name nor reason", async () => {
    const until = new Date(world.ingest.time + HOUR_MS).toISOString();
    await world.post("/admin/ingest/pause", { note: "bad data", until });
    const { changed, next, failed } = await answers();
    expect(failed).toMatchObject(say("pass", "Nothing"));
    expect(changed).toMatchObject(say("pass", "ops: Pause ingestion", "ops: Pause ingestion"));
    expect(next).toMatchObject(say("warn", "Ingestion is paused", "Paused by ops: “bad data”; "));
    const end = next?.details.find(({ text }) => text === "The pause ends");
    expect(end?.at).toBe(until);
    expect(next?.text).not.toContain("skips");
    await world.post("/admin/ingest/pause", { until: null });
    expect((await answers())["next"]?.text).toContain("Next ingest, which the pause skips");
    const seen = await answers("/dashboard/summary");
    expect(seen["next"]).toMatchObject(
      say("warn", "Ingestion is paused", "Paused; The pause ends when somebody resumes."),
    );
    expect(JSON.stringify(seen)).not.toMatch(/ops|bad data/);
  });

  it("say that a run waits in a pause, unless its version is published", async () => {
    world.ingest.renameAirport("Kloten");
    const { run } = await world.ingest.enqueue({ forced: true });
    const upTo = (stage: Stage) =>
      world.ingest.drain(() => world.ingest.nextStage(run.id) === stage);
    await upTo("encode");
    expect((await answers())["next"]?.text).toContain("A run is in stage guard");
    await world.post("/admin/ingest/pause");
    expect((await answers())["next"]?.text).toContain("A run waits in stage guard");
    await world.post("/admin/ingest/resume");
    await upTo("verify");
    await world.post("/admin/ingest/pause");
    expect((await answers())["next"]?.text).toContain("A run is in stage publish");
  });

  it("show the last three changes by operators, and lead to all if there are any", async () => {
    expect(JSON.stringify((await answers())["changed"])).not.toContain("#audit");
    for (const change of ["pause", "resume", "pause", "resume"])
      await world.post(`/admin/ingest/${change}`);
    const { changed } = await answers();
    expect(changed?.text.match(/ops: (Pause|Resume) ingestion/g)).toHaveLength(3);
    expect(changed?.details.at(-1)?.links).toEqual([{ text: "All changes", href: "#audit" }]);
  });

  it("leave out the attempts after which everything was as before", async () => {
    await world.post("/admin/ingest/pause", { note: "maintenance" });
    await world.post("/admin/ingest/pause", { note: "maintenance" });
    await world.post("/admin/alerts/run", {});
    await world.post("/admin/ingest/resume");
    await world.post("/admin/ingest/resume");
    const { changed } = await answers();
    const texts = changed?.details.map(({ text }) => text).filter((text) => text.startsWith("ops"));
    expect(texts).toEqual(["ops: Resume ingestion", "ops: Pause ingestion"]);
  });

  it("list what waits and when each job comes next", async () => {
    await world.ingest.enqueue();
    const { next } = await answers();
    expect(next).toMatchObject(say("pass", "A run", "1 run in the queue"));
    const ingest = next?.details.find(({ text }) => text === "Next ingest");
    expect(ingest?.at).toBe("2026-11-21T04:17:00.000Z");
  });

  it("say which backup job is in progress, also during a pause", async () => {
    await world.post("/admin/ingest/pause");
    await world.post("/admin/backup/run");
    await world.ingest.alarm();
    const { next } = await answers();
    expect(next).toMatchObject(say("warn", "A backup", "A backup is in stage "));
    expect(next?.text).toContain("Paused by ops");
  });

  it("say that the author of a change is unknown while D1 does not answer", async () => {
    world.breakD1();
    const { changed } = await answers();
    expect(changed).toMatchObject(say("warn", "Unknown", "the audit in D1 cannot be read"));
  });
});
