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
  return { name: "locales", done, total: 4 };
}

describe("a progress bar", () => {
  it("overwrites itself on a terminal", () => {
    const { bar, written, clock } = aBar({ isTTY: true });
    bar.show("parse");
    bar.show("encode", { name: "common part", done: 3, total: 12 }, 0.25);
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
      "encode: locales 1 of 4\n",
      "encode: locales 2 of 4\n",
      "verify …\n",
    ]);
  });
});
