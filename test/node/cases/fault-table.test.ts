import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { FAULTS, type Place } from "../../cases/faults.ts";

const ROWS = 42;
const TESTS = dirname(dirname(import.meta.dirname));

/** The folders of tests that show something with fakes, or in a process of its own. */
const FOLDERS: { readonly [P in Place]: readonly string[] } = {
  fakes: ["node/", "workers/"],
  process: ["system/", "crash/"],
};

/** A file's text on one line, so that the words of a test follow the bracket of its call. */
const read = (file: string) => readFileSync(`${TESTS}/${file}`, "utf8").replace(/\s+/g, " ");

describe("the table of faults", () => {
  it("has each row once, in order", () => {
    const rows = FAULTS.map(({ row }) => row);
    expect(rows).toEqual(Array.from({ length: ROWS }, (_, index) => index + 1));
  });

  it.each(FAULTS)("names tests that there are, for row $row: $fault", ({ tests }) => {
    const missing = tests.filter(({ file, title }) => {
      const source = read(file);
      return !source.includes(`("${title}"`) && !source.includes(`( "${title}"`);
    });
    expect(missing).toEqual([]);
  });

  it.each(FAULTS)("has a test wherever row $row must be shown: $fault", ({ tests, shownIn }) => {
    expect(shownIn).not.toEqual([]);
    const isShown = (place: Place) =>
      tests.some(({ file }) => FOLDERS[place].some((folder) => file.startsWith(folder)));
    expect(shownIn.filter((place) => !isShown(place))).toEqual([]);
  });
});
