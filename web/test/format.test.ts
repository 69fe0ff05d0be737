import { describe, expect, it, onTestFinished } from "vitest";
import { formatBytes, formatTime } from "../shared/format.ts";

describe("numbers for people", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [12_345, "12.3 KB"],
    [885_567, "886 KB"],
    [1_822_874, "1.82 MB"],
  ])("writes %d bytes as %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    ["UTC", "2026-11-21T06:40:12.345Z", "2026-11-21 06:40 UTC"],
    ["Europe/Zurich", "2026-11-21T06:40:12.345Z", "2026-11-21 07:40 (06:40 UTC)"],
    ["Europe/Zurich", "2026-07-21T22:40:00.000Z", "2026-07-22 00:40 (2026-07-21 22:40 UTC)"],
    ["Asia/Kathmandu", "2026-11-21T06:40:12.345Z", "2026-11-21 12:25 (06:40 UTC)"],
    ["America/New_York", "2026-11-21T03:40:00.000Z", "2026-11-20 22:40 (2026-11-21 03:40 UTC)"],
  ])("writes times in the reader's zone, with UTC beside: in %s", (zone, time, text) => {
    const before = process.env["TZ"];
    process.env["TZ"] = zone;
    onTestFinished(() => void (process.env["TZ"] = before ?? "UTC"));
    expect(formatTime(time)).toBe(text);
  });
});
