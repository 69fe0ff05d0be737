import { describe, expect, it } from "vitest";
import type { Notice } from "../../../src/alerts/notice.ts";
import {
  afterSilence,
  changeKeys,
  heldBackUntil,
  messageId,
  type Unanswered,
} from "../../../src/alerts/redelivery.ts";
import { aNotice } from "../../builders/alert-notice.ts";

const MINUTE_MS = 60_000;

const notice = aNotice();
const other = aNotice({ rule: "ingest_failing", fingerprint: "ffeeddccbbaa9988" });

const idOf = (...notices: readonly Notice[]) => messageId("ops", changeKeys(notices));

describe("the id of a message", () => {
  it("is the same for the same changes, in any order and whatever is measured by now", () => {
    const later = { ...notice, value: 112_000_000, message: "1 d 8 h ago.", evidence: { a: 1 } };
    expect(idOf(other, later)).toBe(idOf(notice, other));
  });

  it.each<[string, readonly Notice[]]>([
    ["another change", [{ ...notice, change: "resolved" }]],
    ["another alert", [other]],
    ["one alert more", [notice, other]],
    ["the alert when it fires anew", [{ ...notice, startsAt: "2026-11-21T11:55:00.000Z" }]],
    ["the next repetition", [{ ...notice, lastToldAt: "2026-11-20T11:55:00.000Z" }]],
  ])("is another for %s", (_, notices) => {
    expect(idOf(...notices)).not.toBe(idOf(notice));
  });

  it("is another for each target", () => {
    expect(messageId("chat", changeKeys([notice]))).not.toBe(idOf(notice));
  });
});

describe("what a target did not answer in time", () => {
  const changes = changeKeys([notice, other]);

  it("is sent again after 4, 8, 16, 32 and then every 60 minutes", () => {
    let unanswered: Unanswered | null = null;
    const waits = [0, 1, 2, 3, 4, 5, 40].map((now) => {
      unanswered = afterSilence(unanswered, { changes, now });
      return (unanswered.retryAt - now) / MINUTE_MS;
    });
    expect(waits).toEqual([4, 8, 16, 32, 60, 60, 60]);
  });

  it("is held back until then, also where only some of it is still owed", () => {
    const unanswered = afterSilence(null, { changes, now: 0 });
    const { retryAt } = unanswered;
    expect(heldBackUntil(unanswered, { changes, now: retryAt - 1 })).toBe(retryAt);
    const some = changeKeys([other]);
    expect(heldBackUntil(unanswered, { changes: some, now: retryAt - 1 })).toBe(retryAt);
    expect(heldBackUntil(unanswered, { changes, now: retryAt })).toBeNull();
  });

  it("does not hold back what the target cannot know", () => {
    const known = changeKeys([notice]);
    const unanswered = afterSilence(null, { changes: known, now: 0 });
    expect(heldBackUntil(unanswered, { changes, now: 1 })).toBeNull();
    expect(heldBackUntil(null, { changes, now: 1 })).toBeNull();
  });
});
