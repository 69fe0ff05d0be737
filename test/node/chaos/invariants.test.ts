import { describe, expect, it } from "vitest";
import type { Run } from "../../../src/ingest/run.ts";
import type {
  BackupContent,
  Older,
  Operated,
  RunRow,
  Served,
  StoredState,
} from "../../chaos/evidence.ts";
import { checkInvariants } from "../../chaos/invariants.ts";
import { checkRestored } from "../../chaos/restored.ts";
import { aLocaleEntry, aManifest } from "../../builders/manifest.ts";
import { aRunRecord } from "../../builders/run.ts";

const first = aManifest({ generation: 1, locales: { en: aLocaleEntry() } });
const second = aManifest({
  generation: 2,
  previous: 1,
  published_at: "2026-11-21T06:00:10.000Z",
  locales: { en: aLocaleEntry({ sha256: "c".repeat(64) }) },
});
const { job: published } = aRunRecord({
  id: "run",
  state: "succeeded",
  outcome: "published",
  generation_after: 2,
  finished_at: "2026-11-21T06:00:11.000Z",
});

/** What a chaos run without a fault of the service leaves behind: a version, and one by a run. */
function evidence({
  state = {},
  operated = {},
  served = [],
  older = [],
}: {
  readonly state?: Partial<StoredState>;
  readonly operated?: Partial<Operated>;
  readonly served?: readonly Served[];
  readonly older?: readonly Older[];
} = {}) {
  const initial = rowOf({ ...published, id: "initial", generation_after: 1 });
  return {
    served,
    older,
    defaultLocale: "en",
    operated: {
      acknowledged: new Set<string>(["run"]),
      cancelled: new Set<string>(),
      pauses: [],
      rollbackAttempts: 0,
      rollbacks: new Map<number, number>(),
      ends: new Map<string, string>(),
      restores: [],
      ...operated,
    },
    state: {
      truth: {
        runs: [published],
        manifests: [first, second],
        outbox: 0,
        auditOutbox: 0,
        isReplicated: true,
      },
      rows: [initial, rowOf(published)],
      audit: ["entry"],
      backupJobs: [],
      kept: { "1": first, "2": second },
      kv: second,
      r2: second,
      ...state,
    },
  };
}

function rowOf(run: Run): RunRow {
  const { id, state, outcome, retries } = run;
  return {
    id,
    state,
    outcome,
    forced: Number(run.forced),
    generation_before: run.generation_before,
    generation_after: run.generation_after,
    retries,
    finished_at: run.finished_at,
  };
}

const answer: Served = {
  generation: 2,
  wanted: "de",
  locale: "en",
  messageSha256: "c".repeat(64),
  tag: second.locales["en"]?.bodies.proto.identity?.sha256.slice(0, 32) ?? "",
  request: "POST",
};

const violated = (of: Parameters<typeof evidence>[0]) =>
  checkInvariants(evidence(of)).map(({ invariant }) => invariant);

describe("the checker of the chaos run", () => {
  it("has nothing to say when all is well", () => {
    expect(violated({ served: [answer] })).toEqual([]);
  });

  it.each<[string, Partial<Served>]>([
    ["another message than was published", { messageSha256: "d".repeat(64) }],
    ["an unpublished body", { tag: "d".repeat(32) }],
    ["an unpublished generation", { generation: 3 }],
    ["an unpublished locale", { locale: "de" }],
  ])("reports %s", (_, changes) => {
    expect(violated({ served: [{ ...answer, ...changes }] })).toEqual(["I1"]);
  });

  it("reports an acknowledged run that is gone", () => {
    expect(violated({ operated: { acknowledged: new Set(["lost"]) } })).toEqual(["I3"]);
  });

  it("reports a cancelled run that went on", () => {
    expect(violated({ operated: { cancelled: new Set(["run"]) } })).toEqual(["I3"]);
  });

  it("reports a run that ended twice, each time otherwise", () => {
    expect(violated({ operated: { ends: new Map([["run", "failed null"]]) } })).toEqual(["I3"]);
  });

  it("reports two runs that published one generation", () => {
    const rows = [...evidence().state.rows, rowOf({ ...published, id: "other" })];
    expect(violated({ state: { rows } })).toEqual(["I4"]);
  });

  it.each([
    ["at a time within a pause", { before: undefined, after: undefined }],
    ["between two looks in a pause", { before: 1, after: 2 }],
  ])("reports a version that a run published %s", (_, seen) => {
    const at = Date.parse(second.published_at);
    const from = seen.before === undefined ? at - 1 : at + 1;
    const pauses = [{ from, to: from + 1_000, ...seen }];
    expect(violated({ operated: { pauses } })).toEqual(["I5"]);
  });

  it("reports a row of D1 that is still running", () => {
    const running: RunRow = { ...rowOf(published), id: "stuck", state: "running", outcome: null };
    expect(violated({ state: { rows: [...evidence().state.rows, running] } })).toEqual(["I6"]);
  });

  it("reports a version that is of no run and of no rollback", () => {
    const rows = evidence().state.rows.map((row) =>
      row.id === "run" ? { ...row, state: "failed", outcome: null } : row,
    );
    expect(violated({ state: { rows } })).toContain("I7");
  });

  it("takes an older version that a manifest names as the one before, and no other", () => {
    const older = (generation: number): Older => ({ generation, held: [2], request: "POST" });
    expect(violated({ older: [older(1)] })).toEqual([]);
    expect(violated({ older: [older(0)] })).toEqual(["I2"]);
  });

  it("reports a shrunk version that was published without force", () => {
    const shrunk = { ...second, counts: { ...second.counts, airports: 1 } };
    const of = (forced: boolean) => {
      const [initial] = evidence().state.rows;
      if (initial === undefined) throw new Error("no row");
      const rows = [initial, rowOf({ ...published, forced, generation_before: 1 })];
      const truth = { ...evidence().state.truth, runs: [], manifests: [first, shrunk] };
      return violated({ state: { rows, truth, kept: {}, kv: shrunk, r2: shrunk } });
    };
    expect(of(false)).toEqual(["I7"]);
    expect(of(true)).toEqual([]);
  });

  it("reports stores that do not agree, and rows that still wait", () => {
    const truth = { ...evidence().state.truth, outbox: 1 };
    expect(violated({ state: { kv: first, r2: null, truth } })).toEqual(["KV", "R2", "D1"]);
  });
});

describe("the checker of a restore", () => {
  const rows = evidence().state.rows;
  const later = { ...rowOf(published), id: "later", generation_after: 3 };
  const third = aManifest({ generation: 3, previous: 2 });
  const restoredAs = { ...second, generation: 4, previous: 1 };
  const backup: BackupContent = {
    rows,
    audit: [],
    manifests: [first, second],
  };
  const wayBack: BackupContent = {
    rows: [...rows, later],
    audit: ["entry"],
    manifests: [first, second, third],
  };
  const restored = { generation: 4, backup, wayBack };
  const { state } = evidence({ state: { kept: { "3": third } } });
  const after: StoredState = {
    ...state,
    truth: { ...state.truth, manifests: [first, second, restoredAs] },
  };

  it("has nothing to say when all is back, and the audit has stayed", () => {
    expect(checkRestored(restored, after)).toEqual([]);
  });

  it.each<[string, Partial<StoredState>]>([
    ["a row that is altered", { rows: rows.map((row) => ({ ...row, retries: 7 })) }],
    ["a row that is missing", { rows: rows.slice(1) }],
    ["an audit entry that is gone", { audit: [] }],
    [
      "another catalog",
      { truth: { ...after.truth, manifests: [first, { ...third, generation: 4 }] } },
    ],
    [
      "another earlier version",
      { truth: { ...after.truth, manifests: [{ ...third, generation: 2 }] } },
    ],
  ])("reports %s", (_, changes) => {
    const found = checkRestored(restored, { ...after, ...changes });
    expect(new Set(found.map(({ invariant }) => invariant))).toEqual(new Set(["I8"]));
  });

  it("reports a generation that is not above all others", () => {
    expect(checkRestored({ ...restored, generation: 3 }, state)).not.toEqual([]);
  });
});
