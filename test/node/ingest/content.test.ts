import { describe, expect, it } from "vitest";
import { encodeLocalePart } from "../../../src/catalog/encode.ts";
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { describeContent } from "../../../src/ingest/content.ts";
import type { Workspace } from "../../../src/ingest/workspace.ts";
import { acceptedWorkspace } from "../../builders/accepted-workspace.ts";
import { aSnapshot, smallAirports } from "../../builders/small-snapshot.ts";
import { csvOf, type Row } from "../../builders/source.ts";
import { encodeSharedPart } from "../../builders/encode-shared-part.ts";

async function aWorkspace(
  airports: readonly Row[] = smallAirports,
  snapshot = aSnapshot(),
): Promise<Workspace> {
  const files: { readonly [name: string]: string } = {
    "airports.csv": csvOf(airports),
    "regions.csv": "code,name\nCH-ZH,Zürich\n",
  };
  return acceptedWorkspace(files, snapshot);
}

describe("describeContent", () => {
  it("hashes and measures the message of each locale", async () => {
    const workspace = await aWorkspace();
    const { messages, violations, ...rest } = await describeContent(workspace, ["de", "en"]);
    const { regions } = workspace.catalog;
    const encoded = encodeLocalePart(regions, await workspace.namesIn("de"));
    const shared = encodeSharedPart(workspace.catalog);
    expect(messages["de"]).toEqual({
      sha256: sha256Hex(shared.proto, encoded.proto),
      bytes: shared.proto.length + encoded.proto.length,
      coverage: 1,
    });
    expect(rest.counts).toEqual({ airports: 3, cities: 3, countries: 2, regions: 4 });
    expect(Object.keys(messages)).toEqual(["de", "en"]);
    expect(violations).toEqual([]);
  });

  it("returns another hash when any locale or entity differs", async () => {
    const workspace = await aWorkspace();
    const less = await aWorkspace(smallAirports.slice(1));
    const described = [
      await describeContent(workspace, ["de", "en"]),
      await describeContent(workspace, ["en"]),
      await describeContent(workspace, ["de", "en", "ja"]),
      await describeContent(less, ["de", "en"]),
    ];
    expect(new Set(described.map(({ catalog_sha256 }) => catalog_sha256)).size).toBe(4);
  });

  it("finds what breaks the contract", async () => {
    const empty = await describeContent(await aWorkspace([]), ["en"]);
    expect(empty.violations).toContainEqual({ rule: "list_not_empty", entity: "airports" });
    expect(empty.messages["en"]?.coverage).toBe(0);
  });

  it("names what breaks it no longer than can be kept", async () => {
    const workspace = await aWorkspace();
    const cities = workspace.catalog.cities.map((city) => ({
      ...city,
      name: "x".repeat(250_000),
      lat: 999,
    }));
    const broken = { ...workspace, catalog: { ...workspace.catalog, cities } };
    const { violations } = await describeContent(broken, ["en"]);
    expect(violations).toContainEqual({ rule: "position", entity: `city ${"x".repeat(75)}…` });
    expect(JSON.stringify(violations).length).toBeLessThan(10_000);
  });
});
