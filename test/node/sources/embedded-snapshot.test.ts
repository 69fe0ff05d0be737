import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { parseLocale } from "../../../src/catalog/locale.ts";
import {
  readSnapshotFile,
  snapshotFileNames,
  snapshotManifest,
} from "../../builders/snapshot-on-disk.ts";

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
const entries = Object.entries(snapshotManifest.files);

describe("the embedded snapshot", () => {
  it("has the files that its manifest names, and no others", () => {
    expect(Object.keys(snapshotManifest.files)).toEqual(snapshotFileNames);
  });

  it.each(entries)("has %s as the manifest describes it", (name, entry) => {
    const bytes = readSnapshotFile(name);
    const content = gunzipSync(bytes);
    const lines = content.toString("utf8").trimEnd().split("\n").length;
    const rows = name.endsWith(".json.gz") ? lines - "[]".length : lines - 1;
    expect({
      sha256: sha256(bytes),
      bytes: bytes.length,
      rows,
      content_sha256: sha256(content),
    }).toEqual(entry);
  });

  it("names the day of each source, and the credits repeat it", () => {
    const credits = readFileSync("data/NOTICE.md", "utf8");
    for (const { package: name, as_of: day } of snapshotManifest.sources) {
      expect(new Date(day).toISOString(), name).toBe(`${day}T00:00:00.000Z`);
      expect(credits, name).toContain(day);
    }
  });

  it("has names for every locale of the manifest, in order, under canonical tags", () => {
    const locales = snapshotManifest.locales.map(({ locale }) => locale);
    const named = snapshotFileNames.flatMap(
      (name) => /^names\/(.*)\.json\.gz$/.exec(name)?.[1] ?? [],
    );
    expect(locales).toEqual(named.toSorted());
    expect(locales.map(parseLocale)).toEqual(locales.map((tag) => ({ ok: true, tag })));
  });

  it("covers at least 60 % of the airports in each locale", () => {
    expect(snapshotManifest.locales.length).toBeGreaterThan(60);
    for (const { locale, coverage } of snapshotManifest.locales)
      expect(coverage, locale).toBeGreaterThanOrEqual(0.6);
  });
});
