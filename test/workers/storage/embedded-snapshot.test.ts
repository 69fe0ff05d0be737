import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import manifest from "../../../data/snapshot/manifest.json" with { type: "json" };
import { sha256Hex } from "../../../src/catalog/bytes.ts";
import { embeddedSnapshot } from "../../../src/storage/embedded-snapshot.ts";
import { StoreError } from "../../../src/platform/deadline.ts";

const snapshot = embeddedSnapshot(env.ASSETS);

describe("the static assets", () => {
  it("hold each file of the snapshot, byte for byte", async () => {
    const files = Object.entries(manifest.files).map(([name, { sha256 }]) => ({ name, sha256 }));
    const found = files.map(async ({ name }) => {
      const sha256 = sha256Hex(new Uint8Array(await snapshot.read(name)));
      return { name, sha256 };
    });
    expect(await Promise.all(found)).toEqual(files);
    expect(files.length).toBeGreaterThan(60);
  });

  it("answer a missing file with an error of a store, which is tried again", async () => {
    const path = `snapshot/${snapshot.sha256}/none.csv.gz`;
    await expect(snapshot.read("none.csv.gz")).rejects.toThrow(
      new StoreError(`the static assets answer 404 for ${path}`),
    );
  });
});
