import { beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../src/catalog/hash.ts";
import type { ImportResult } from "../../../src/ingest/state-transfer.ts";
import { anAuditEntry } from "../../builders/audit.ts";
import { CoordinatorWorld } from "../../builders/coordinator-world.ts";

const BY = "the restore";
const TABLES = ["runs", "versions", "facts", "ticks", "blobs", "audit_outbox"];

let world: CoordinatorWorld;
let lines: readonly string[];

beforeEach(async () => {
  world = new CoordinatorWorld();
  await world.publishVersions(2);
  await world.drain();
  await world.coordinator.hold({ by: BY, kind: "restore", forMs: 60_000 });
  world.transfer.take(BY);
  ({ lines } = world.transfer.read(0));
});

/** Lets these lines replace the state. */
function replaceBy(changed: readonly string[], by = BY): ImportResult {
  world.transfer.stage(0, changed);
  const sha256 = sha256Hex(...changed.map((line) => `${line}\n`));
  return world.transfer.replace(by, { lines: changed.length, sha256, aboveGeneration: 2 });
}

/** The lines with another row in the place of the first of a table. */
function withRow(table: string, change: (row: object) => object): string[] {
  const parsed = lines.map((line) => JSON.parse(line));
  const first = parsed.find((line) => line.table === table);
  first.row = change(first.row);
  return parsed.map((line) => JSON.stringify(line));
}

function state() {
  return TABLES.map((table) => world.tables.sql.exec(`SELECT * FROM ${table}`).toArray());
}

describe("replacing the state", () => {
  it("takes what was copied, and does it once however often the same job asks", () => {
    expect(replaceBy(lines)).toEqual({ ok: true, generation: 3 });
    const after = state();
    expect(replaceBy(lines)).toEqual({ ok: true, generation: 3 });
    expect(replaceBy([])).toEqual({ ok: true, generation: 3 });
    expect(state()).toEqual(after);
    expect(replaceBy(lines, "another")).toMatchObject({ ok: false, reason: "not_held" });
  });

  it.each([
    ["a table that there is not", () => ['{"table":"others","row":{}}'], "table others"],
    [
      "a column that there is not",
      () => withRow("versions", (row) => ({ ...row, colour: "red" })),
      "column versions.colour",
    ],
    [
      "a row without what it must have",
      () => withRow("versions", () => ({ generation: 1 })),
      "versions: not JSON",
    ],
    ["the same row twice", () => [...lines, ...lines], "UNIQUE"],
    ["a line that is no JSON", () => [...lines, "{"], "JSON"],
  ])("refuses %s, and changes nothing", (_, change, message) => {
    const before = state();
    const result = replaceBy(change());
    expect(result).toMatchObject({ ok: false, reason: "other_schema" });
    expect(result.ok ? "" : result.message).toContain(message);
    expect(state()).toEqual(before);
    expect(replaceBy(lines)).toMatchObject({ ok: true });
  });

  it("keeps the audit entries that wait, and adds those of the copy", async () => {
    const entry = (id: string, detail: string) => JSON.stringify(anAuditEntry({ id, detail }));
    const insert = "INSERT INTO audit_outbox (id, entry) VALUES (?, ?)";
    world.tables.sql.exec(insert, "1", entry("1", "present"));
    const copied = ["1", "2"].map((id) =>
      JSON.stringify({ table: "audit_outbox", row: { id, entry: entry(id, "copied") } }),
    );
    expect(replaceBy([...lines, ...copied])).toMatchObject({ ok: true });
    expect(world.tables.sql.exec("SELECT * FROM audit_outbox ORDER BY id").toArray()).toEqual([
      { id: "1", entry: entry("1", "present") },
      { id: "2", entry: entry("2", "copied") },
    ]);
  });
});
