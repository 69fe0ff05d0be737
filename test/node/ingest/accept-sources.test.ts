import { expect, it } from "vitest";
import { regionKeys } from "../../../src/ingest/accept-sources.ts";
import { readRegions } from "../../../src/sources/reference.ts";
import { snapshotOpener } from "../../../src/sources/snapshot.ts";
import { snapshotOnDisk } from "../../builders/snapshot-on-disk.ts";

const regionOf = regionKeys(await readRegions(snapshotOpener(snapshotOnDisk)));

it.each([
  ["CH-ZH", "iso3166-2:CH-ZH"],
  ["AS-MA", "iso3166-1:AS"],
  ["AI-U-A", "iso3166-1:AI"],
  ["FR-U-A", ""],
  ["CH-XX", "CH-XX"],
])("the region of upstream's code %s is %s", (code, key) => {
  expect(regionOf(code)).toBe(key);
});
