import { describe, expect, it } from "vitest";
import { actionText } from "../../src/schemas/audit-actions.ts";
import { changeText } from "../dashboard/audit-words.ts";

describe("the audit's last column", () => {
  it.each([
    ["nothing that the entry does not say", null, null, ""],
    ["what is after what was", { pinned: false }, { pinned: true }, "pinned: false → pinned: true"],
    ["no result of what was refused", { paused: true, until: null }, null, "paused: true → –"],
    ["only the result of what was begun", null, { run_id: "01" }, "run id: 01"],
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
