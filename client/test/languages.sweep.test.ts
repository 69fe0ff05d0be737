/** What another language costs, in the snapshot's 64. */
import { brotliDecompressSync } from "node:zlib";
import { toBinary } from "@bufbuild/protobuf";
import { beforeAll, expect, it } from "vitest";
import { type CatalogCopy, refresh } from "../src/refresh.ts";
import { locales } from "../../data/snapshot/manifest.json";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { type HashedBlob } from "../../src/ingest/locale-parts.ts";
import { encodeNames } from "../../src/ingest/encode-names.ts";
import type { Effort } from "../../src/parts/codings.ts";
import { CatalogService } from "../../test/builders/catalog-service.ts";
import {
  snapshotCatalog,
  snapshotNames,
  snapshotResponse,
} from "../../test/builders/snapshot-response.ts";

const BASE_URL = "https://locations.example.com";
const MAX_BYTES = 20_000;

const english = toBinary(LocationsResponseSchema, snapshotResponse());
const service = new CatalogService({ version: 1, bytes: english });
let copy: CatalogCopy;

beforeAll(async () => {
  copy = await refresh({ baseUrl: BASE_URL, fetch: service.fetch });
});

/** What the service sends of the names of a locale. */
async function namesIn(locale: string, effort: Effort): Promise<Uint8Array> {
  const stored: HashedBlob[] = [];
  const { regions } = snapshotCatalog();
  await encodeNames(
    { locale, regions, names: snapshotNames(locale) },
    { effort, earlier: async () => null, store: async (blob) => void stored.push(blob) },
  );
  return stored[0]?.bytes ?? new Uint8Array();
}

it.each(locales.map(({ locale }) => locale))(
  "the catalog becomes that in %s by at most 20 kB of brotli",
  async (locale) => {
    const bytes = toBinary(LocationsResponseSchema, snapshotResponse(locale));
    service.served = { version: 1, bytes: english, others: { [locale]: bytes } };
    const [fast, best] = [await namesIn(locale, "fast"), await namesIn(locale, "best")];
    expect(Math.max(fast.length, best.length)).toBeLessThanOrEqual(MAX_BYTES);
    service.names = JSON.parse(brotliDecompressSync(best).toString());
    service.takeCalls();
    const translated = await refresh({ baseUrl: BASE_URL, locale, fetch: service.fetch }, copy);
    expect(Buffer.compare(translated.bytes, bytes)).toBe(0);
    expect(service.takeCalls()).not.toContain("GET GetLocationsV1");
  },
);
