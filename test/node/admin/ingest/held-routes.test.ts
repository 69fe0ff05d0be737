import { beforeEach, describe, expect, it, vi } from "vitest";
import { decidedIn } from "../../../../src/schemas/decided-change.ts";
import type { HeldChange } from "../../../../src/schemas/held-change.ts";
import { sourceKey } from "../../../../src/storage/keys.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { anUpstream } from "../../../builders/coordinator-world.ts";
import type { Row } from "../../../builders/source.ts";
import { aSnapshot, moreAirports } from "../../../builders/small-snapshot.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const ROWS = moreAirports(40);
/** What a vandal makes of three airports. */
const EDITS: { readonly [iata: string]: Row } = {
  ZRH: { name: "Ghost" },
  GVA: { latitude_deg: "47.5" },
  LIN: { name: "Spook" },
};
const VANDALISED = ROWS.map((row) => ({ ...row, ...EDITS[row["iata_code"] ?? ""] }));

const NAME_OF_ZRH = { field: "name", before: "Zürich Airport", after: "Ghost" };

interface Page {
  readonly held: readonly HeldChange[];
  readonly by_rule: { readonly [rule: string]: number };
  readonly next_cursor: string | null;
  readonly total: number;
}
interface Decided {
  readonly changed: number;
  readonly held: readonly HeldChange[];
  readonly run: { readonly id: string } | null;
  readonly message: string;
}

let world: AdminWorld;
let firstRun = "";

beforeEach(async () => {
  world = new AdminWorld();
  world.ingest.upstream = anUpstream(ROWS);
  await world.ingest.runToEnd();
  world.ingest.source = "other";
  world.ingest.crash();
  world.ingest.upstream = anUpstream(VANDALISED);
  firstRun = (await world.ingest.runToEnd()).id;
});

const list = async (query = "") => (await world.request(`/admin/ingest/held${query}`)).json<Page>();
const idOf = async (iata: string) => (await list(`?iata=${iata}`)).held[0]?.id ?? "";
const decide = async (path: string, body: object = {}) =>
  (await world.post(`/admin/ingest/held/${path}`, body)).json<Decided>();
const heldFile = () => world.ingest.coordinator.ledger().files?.held ?? "";

describe("GET /admin/ingest/held", () => {
  it("lists the records before and after with their rules, the most urgent first", async () => {
    const { held, total, next_cursor } = await list();
    expect({ total, next_cursor }).toEqual({ total: 3, next_cursor: null });
    expect(held.map(({ iata, rules }) => [iata, ...rules])).toEqual([
      ["GVA", "moves"],
      ["LIN", "changes_name"],
      ["ZRH", "changes_name"],
    ]);
    expect(held[2]).toMatchObject({
      state: "waiting",
      before: { name: "Zürich Airport" },
      after: { name: "Ghost" },
      run_id: firstRun,
    });
  });

  it.each([
    ["?rule=moves", ["GVA"]],
    ["?iata=ZRH&state=waiting", ["ZRH"]],
    ["?state=rejected", []],
    ["?limit=1", ["GVA"]],
  ])("selects by %s", async (query, codes) => {
    expect((await list(query)).held.map(({ iata }) => iata)).toEqual(codes);
  });

  it("counts the changes of each rule that match but for the rule", async () => {
    const { by_rule } = await list("?rule=moves&state=waiting");
    expect(Object.entries(by_rule)).toEqual([
      ["moves", 1],
      ["changes_name", 2],
    ]);
    expect((await list("?state=rejected")).by_rule).toEqual({});
  });

  it("selects and counts as `none` the changes that no rule marks", async () => {
    world.ingest.upstream = anUpstream(
      VANDALISED.map((row) => (row["iata_code"] === "XAA" ? { ...row, gps_code: "XXAA" } : row)),
    );
    await world.ingest.runToEnd();
    const { held, by_rule } = await list("?rule=none");
    expect(held.map(({ iata, rules }) => [iata, rules])).toEqual([["XAA", []]]);
    expect(by_rule["none"]).toBe(1);
    const decided = await decide("reject", { rule: "none" });
    expect(decided.held.map(({ iata }) => iata)).toEqual(["XAA"]);
  });

  it("returns pages", async () => {
    const first = await list("?limit=2");
    expect(first).toMatchObject({ total: 3, next_cursor: expect.stringMatching(/^[\w-]+$/) });
    const second = await list(`?limit=2&cursor=${first.next_cursor}`);
    expect(second.held.map(({ iata }) => iata)).toEqual(["ZRH"]);
    expect(second.next_cursor).toBeNull();
  });

  it("returns an empty list before the first run, and answers 503 while R2 does not answer", async () => {
    const empty = new AdminWorld();
    expect(await (await empty.request("/admin/ingest/held")).json()).toMatchObject({ held: [] });
    world.ingest.archive.bucket.files.delete(sourceKey(heldFile()));
    world.ingest.archive.bucket.before = () => {
      throw new Error("R2 is away");
    };
    for (const answer of [
      await world.request("/admin/ingest/held"),
      await world.post("/admin/ingest/held/approve", { rule: "changes_name" }),
      await world.post(`/admin/ingest/held/1-${"0".repeat(16)}/reject`),
    ]) {
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({ code: "archive_unavailable" });
    }
  });
});

it.each([
  ["lost", (key: string) => world.ingest.archive.bucket.files.delete(key)],
  ["damaged", (key: string) => world.ingest.archive.bucket.damage(key, () => Uint8Array.of(0))],
])("a list that is %s is made again by the next run, as the answer says", async (_, harm) => {
  harm(sourceKey(heldFile()));
  const answer = await world.request("/admin/ingest/held");
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({
    code: "ledger_unavailable",
    detail: expect.stringContaining("queue one"),
  });
  await world.post("/admin/ingest/queue", {});
  await world.ingest.drain();
  expect((await world.request("/admin/ingest/held")).status).toBe(200);
});

describe("the parameter run_id", () => {
  it("filters by the run that saw a change first", async () => {
    const edited = VANDALISED.map((row) =>
      row["iata_code"] === "XAA" ? { ...row, name: "Phantom" } : row,
    );
    world.ingest.time += DAY_MS;
    world.ingest.upstream = anUpstream(edited);
    const { id: secondRun } = await world.ingest.runToEnd();
    const codesOf = async (run: string) =>
      (await list(`?run_id=${run}`)).held.map(({ iata }) => iata);
    expect(await codesOf(firstRun)).toEqual(["GVA", "LIN", "ZRH"]);
    expect(await codesOf(secondRun)).toEqual(["XAA"]);
    const { held } = await decide("reject", { run_id: secondRun });
    expect(held.map(({ iata }) => iata)).toEqual(["XAA"]);
  });
});

describe("POST /admin/ingest/held/{id}/approve", () => {
  it("queues a run that publishes only the approved change", async () => {
    const id = await idOf("ZRH");
    const answer = await world.post(`/admin/ingest/held/${id}/approve`, { note: "it is so" });
    const { changed, held, run, message } = await answer.json<Decided>();
    expect(held).toMatchObject([{ id, state: "approved", decided_by: "ops", note: "it is so" }]);
    expect({ changed, message }).toEqual({
      changed: true,
      message: `One change is approved. Run ${run?.id} accepts what upstream still says.`,
    });
    expect(answer.headers.get("location")).toBe(`/admin/ingest/runs/${run?.id}`);
    expect(world.audited.at(-1)).toMatchObject({
      action: "ingest.approve_held",
      target: id,
      before: { waiting: 1 },
      after: {
        approved: 1,
        changes: [{ id, iata: "ZRH", name: expect.any(String), fields: [NAME_OF_ZRH] }],
      },
    });
    expect((await list("?state=approved")).held.map((each) => each.id)).toEqual([id]);
    await world.ingest.drain();
    expect(world.ingest.run(run?.id ?? "")).toMatchObject({
      outcome: "published",
      held: { waiting: 2, ended: 1 },
    });
    expect((await list()).held.map(({ iata }) => iata)).toEqual(["GVA", "LIN"]);
  });

  it("queues a run of each source that says so, and names both", async () => {
    world.ingest.source = "third";
    world.ingest.crash();
    world.ingest.upstream = anUpstream(
      ROWS.map((row) => (row["iata_code"] === "GVA" ? { ...row, name: "Spectre" } : row)),
    );
    await world.ingest.runToEnd();
    const enqueue = vi.spyOn(world.ingest.coordinator, "enqueue");
    const { held, run, message } = await decide("approve", { rule: "changes_name" });
    expect(held).toHaveLength(3);
    const queued = new Set(enqueue.mock.calls.map(([request]) => request.source));
    expect(queued).toEqual(new Set(["other", "third"]));
    expect(message).toMatch(
      new RegExp(`^3 changes are approved\\. Runs [\\w-]+ and ${run?.id} accept `),
    );
  });

  it("changes nothing the second time, and names the run that publishes the change", async () => {
    const id = await idOf("ZRH");
    const { run } = await decide(`${id}/approve`);
    expect(await decide(`${id}/approve`)).toMatchObject({
      changed: false,
      run: { id: run?.id },
      message: `Nothing changed. Run ${run?.id} accepts the approved changes.`,
    });
    expect(await decide("approve", { run_id: firstRun })).toMatchObject({ held: { length: 3 } });
    expect(await decide("approve", { run_id: firstRun })).toMatchObject({
      changed: false,
      held: { length: 3 },
    });
  });
});

describe("the audit of decisions", () => {
  const decided = async (query = "") => {
    const answer = await world.request(`/admin/audit${query}`);
    const { entries } = await answer.json<{ entries: { action: string; after: object }[] }>();
    return entries.map(({ action, after }) => [
      action,
      decidedIn(after).map(({ iata, fields }) => [iata, fields.map(({ field }) => field)]),
    ]);
  };

  it("names each change of a group with its fields, also after a rollback, and by the airport", async () => {
    await decide("approve", { rule: "changes_name" });
    await decide(`${await idOf("ZRH")}/reject`);
    await world.ingest.drain();
    await world.ingest.coordinator.rollback(1);
    const group = [
      "ingest.approve_held",
      [
        ["LIN", ["name"]],
        ["ZRH", ["name"]],
      ],
    ];
    const one = ["ingest.reject_held", [["ZRH", ["name"]]]];
    expect(await decided()).toEqual([one, group]);
    expect(await decided("?iata=ZRH")).toEqual([one, group]);
    expect(await decided("?iata=LIN")).toEqual([group]);
    expect(await decided("?iata=GVA")).toEqual([]);
  });

  it("says in the history which airports a run accepts", async () => {
    const { run } = await decide("approve", { run_id: firstRun });
    await world.ingest.drain();
    expect(world.ingest.run(run?.id ?? "").note).toBe("accepts approved changes: GVA, LIN, ZRH");
  });
});

describe("POST /admin/ingest/held/{id}/reject", () => {
  it("undoes an approval after a rollback to the previous version, and the change starts to wait again", async () => {
    const id = await idOf("ZRH");
    const before = world.ingest.current()?.generation ?? 0;
    await decide(`${id}/approve`);
    await world.ingest.drain();
    expect(await idOf("ZRH")).toBe("");
    await world.ingest.coordinator.rollback(before);
    expect(await world.ingest.runToEnd()).toMatchObject({ outcome: "unchanged" });
    expect((await list("?iata=ZRH")).held).toMatchObject([{ id, state: "waiting" }]);
    expect(await decide(`${id}/reject`)).toMatchObject({ held: [{ state: "rejected" }] });
  });

  it("stops a run that is about to publish the change from publishing it", async () => {
    const id = await idOf("ZRH");
    for (let day = 1; day <= 2; day++) {
      world.ingest.time += DAY_MS;
      await world.ingest.runToEnd();
    }
    world.ingest.time += DAY_MS;
    await world.ingest.runUpTo("publish");
    await decide(`${id}/reject`);
    await world.ingest.drain();
    expect((await list("?iata=ZRH")).held).toMatchObject([{ state: "rejected" }]);
  });

  it("survives a rollback", async () => {
    await decide(`${await idOf("ZRH")}/reject`);
    await decide("approve", { rule: "moves" });
    await world.ingest.drain();
    const generation = (world.ingest.current()?.generation ?? 0) - 1;
    await world.ingest.coordinator.rollback(generation);
    await world.ingest.runToEnd();
    expect((await list("?iata=ZRH")).held).toMatchObject([{ state: "rejected" }]);
  });
});

describe("a new deployment", () => {
  it("serves the snapshot, and today's world after one approval of the changes that its first run holds", async () => {
    world = new AdminWorld();
    world.ingest.snapshot = aSnapshot({ airports: ROWS });
    world.ingest.source = "other";
    world.ingest.crash();
    world.ingest.upstream = anUpstream(VANDALISED);
    const { id: run_id } = await world.ingest.runToEnd();
    expect(world.ingest.run(run_id)).toMatchObject({
      outcome: "published",
      counts: { airports: { added: ROWS.length } },
      held: { waiting: 3 },
    });
    const { run } = await decide("approve", { run_id });
    await world.ingest.drain();
    expect(world.ingest.run(run?.id ?? "")).toMatchObject({
      outcome: "published",
      counts: { airports: { changed: 3 } },
      held: { waiting: 0 },
    });
  });
});

describe("a decision about a whole file", () => {
  it("applies to every change, and its answer shows the first hundred", async () => {
    world.ingest.time += DAY_MS;
    world.ingest.upstream = anUpstream(moreAirports(190));
    const { id: run_id } = await world.ingest.runToEnd({ forced: true });
    const { held, message } = await decide("reject", { run_id });
    expect(held).toHaveLength(100);
    expect(message).toBe("150 changes are rejected until upstream says something else.");
    expect((await list("?state=rejected")).total).toBe(150);
  });
});

describe("a correction of the snapshot", () => {
  it("appears in the list but refuses to be approved or rejected", async () => {
    world.ingest.snapshot = aSnapshot({
      airports: ROWS,
      corrections: [{ ...ROWS[0], name: "Kloten" }],
    });
    world.ingest.upstream = anUpstream([{ ...ROWS[0], name: "Kloten" }, ...ROWS.slice(1)]);
    world.ingest.crash();
    await world.ingest.runToEnd();
    const { held } = await list("?state=corrected");
    expect(held).toMatchObject([{ iata: "ZRH", rules: [], after: { name: "Kloten" } }]);
    for (const verb of ["approve", "reject"]) {
      const answer = await world.post(`/admin/ingest/held/${held[0]?.id}/${verb}`);
      expect(answer.status).toBe(404);
    }
  });
});
