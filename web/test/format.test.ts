import { describe, expect, it } from "vitest";
import {
  formatAge,
  formatBytes,
  formatDuration,
  formatPosition,
  formatTime,
} from "../shared/format.ts";

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
    [0, "0 s"],
    [340, "340 ms"],
    [5_000, "5 s"],
    [2_440, "2.4 s"],
    [22_400, "22 s"],
    [200_000, "3 min 20 s"],
    [7_500_000, "2 h 5 min"],
    [180_000_000, "2 d 2 h"],
  ])("writes %d ms as %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    [1_000, "just now"],
    [59_000, "59 s ago"],
    [180_000, "3 min ago"],
    [86_400_000, "24 h ago"],
    [259_200_000, "3 d ago"],
    [-180_000, "in 3 min"],
  ])("writes a time %d ms ago as %s", (ms, text) => {
    const now = Date.parse("2026-11-21T06:00:00.000Z");
    expect(formatAge(new Date(now - ms).toISOString(), now)).toBe(text);
  });

  it("writes times in UTC, and positions with their hemispheres", () => {
    expect(formatTime("2026-11-21T06:40:12.345Z")).toBe("2026-11-21 06:40:12");
    expect(formatPosition(-33.94611, 151.17722)).toBe("33.9461° S, 151.1772° E");
  });
});
