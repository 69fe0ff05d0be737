/** Makes the packed names, which turn the catalog in another language into that of a locale. */
import { localizedName } from "../catalog/integrity.ts";
import type { Region, RegionNames } from "../catalog/model.ts";
import { packNames } from "../catalog/packed-names.ts";
import { LETTERS, spellingOf } from "../catalog/spellings.ts";
import { compressWhole, decompressWhole, type Effort } from "../parts/codings.ts";
import type { StoredPart } from "../parts/manifest.ts";
import { type HashedBlob, hashBlob, toPart } from "./locale-parts.ts";

interface LocaleNames {
  readonly locale: string;
  readonly regions: readonly Region[];
  readonly names: RegionNames;
}

interface NamesDependencies {
  readonly effort: Effort;
  /** Reads the packed names of the current version. They are reused if they decode to the same bytes. */
  readonly earlier: () => Promise<HashedBlob | null>;
  readonly store: (blob: HashedBlob) => Promise<void>;
}

/**
 * Packs and stores the names of a locale in brotli. They are sent as they are stored.
 *
 * @throws Error if they do not decode to their input.
 */
export async function encodeNames(
  { locale, regions, names }: LocaleNames,
  { effort, earlier, store }: NamesDependencies,
): Promise<StoredPart> {
  const localized = regions.map((region) => localizedName(region, names));
  const spelling = [...spellingOf(locale), ...LETTERS];
  const packed = packNames({ regions, names: localized, spelling });
  const json = new TextEncoder().encode(JSON.stringify(packed));
  const before = await earlier();
  const isRight = ({ bytes }: HashedBlob) => decompressWhole(bytes)?.equals(json) === true;
  if (before !== null && isRight(before)) return toPart(before);
  const made = hashBlob(compressWhole(json, effort));
  if (!isRight(made)) throw new Error(`the names in ${locale} do not decode to their input`);
  await store(made);
  return toPart(made);
}
