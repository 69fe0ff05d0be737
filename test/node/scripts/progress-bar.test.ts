import { describe, expect, it } from "vitest";
import { ProgressBar, type Units } from "../../../scripts/progress-bar.ts";

/** A bar whose output and clock are here. */
function aBar({ isTTY }: { readonly isTTY: boolean }) {
  const clock = { ms: 0 };
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  return { clock, written, bar: new ProgressBar({ isTTY, write }, () => clock.ms) };
}

function locales(done: number): Units {
  return { name: "locales", done, total: 4, areLast: true };
}

describe("a progress bar", () => {
  it("overwrites itself on a terminal", () => {
    const { bar, written, clock } = aBar({ isTTY: true });
    bar.show("parse");
    bar.show("encode", { name: "common part", done: 3, total: 12, areLast: false }, 0.25);
    clock.ms = 1_500;
    bar.end("Catalog published.");
    const line = (text: string) => `\r\u001B[2K${text}`;
    expect(written).toEqual([
      line(`${"░".repeat(24)} parse`),
      line(`${"█".repeat(6)}${"░".repeat(18)} encode, common part 3 of 12`),
      line("Catalog published. (1.5 s)\n"),
    ]);
  });

  it("writes a line for each stage elsewhere, and one every ten seconds", () => {
    const { bar, written, clock } = aBar({ isTTY: false });
    for (const [ms, done] of [0, 0, 1, 1, 2, 4].entries()) {
      clock.ms = ms * 5_000;
      bar.show("encode", locales(done));
    }
    bar.show("verify", locales(4));
    expect(written).toEqual([
      "encode …\n",
      "encode: locales 1 of 4, about 30 s left\n",
      "encode: locales 2 of 4, about 20 s left\n",
      "verify …\n",
    ]);
  });

  it("estimates the remaining time of the last stage, from its own units", () => {
    const { bar, written, clock } = aBar({ isTTY: true });
    const shared = { name: "common part", total: 2, areLast: false };
    bar.show("encode", { ...shared, done: 0 });
    clock.ms = 60_000;
    bar.show("encode", { ...shared, done: 1 });
    clock.ms = 120_000;
    bar.show("encode", locales(0));
    clock.ms = 122_000;
    bar.show("encode", locales(1));
    clock.ms = 128_000;
    bar.show("encode", locales(4));
    const counts = written.map((line) => line.split("encode, ")[1]);
    expect(counts).toEqual([
      "common part 0 of 2",
      "common part 1 of 2",
      "locales 0 of 4",
      "locales 1 of 4, about 6 s left",
      "locales 4 of 4",
    ]);
  });
});
