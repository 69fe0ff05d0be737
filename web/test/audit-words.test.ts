import { describe, expect, it } from "vitest";
import { actionText } from "../../src/schemas/audit-actions.ts";
import { changeText } from "../dashboard/audit-words.ts";

const NOON = "2026-11-27T12:00:00.000Z";

describe("the audit's last column", () => {
  it.each([
    ["nothing that the entry does not say", null, null, ""],
    ["what is after what was", { pinned: false }, { pinned: true }, "pinned: false → pinned: true"],
    ["no result of what was refused", { paused: true, until: null }, null, "paused: true → –"],
    ["only the result of what was begun", null, { run_id: "01" }, "run id: 01"],
    [
      "versions as the pages call them",
      { generation: 2 },
      { generation: 3 },
      "version: 2 → version: 3",
    ],
    ["times as the pages write them", null, { until: NOON }, "until: 2026-11-27 12:00 UTC"],
    [
      "times within a message",
      null,
      { error: `after ${NOON}.` },
      "error: after 2026-11-27 12:00 UTC.",
    ],
    ["as much of a hash as the pages do", null, { sha256: "0f".repeat(32) }, "sha256: 0f0f0f0f0f"],
    ["a note as it was written", null, { note: 'a "closed" one' }, 'note: a "closed" one'],
  ])("shows %s", (_, before, after, text) => {
    expect(changeText(before, after)).toBe(text);
  });
});

it.each([
  ["in words", "ingest.approve_held", "Approve held changes"],
  ["of a later version as it is recorded", "ingest.rewind", "ingest.rewind"],
])("shows an action %s", (_, action, text) => {
  expect(actionText(action)).toBe(text);
});
