import { memoize } from "../../src/platform/once.ts";
import { tidy } from "../../src/catalog/fold.ts";
import { readdirSync } from "node:fs";
import { XMLParser } from "fast-xml-parser";
import type { SubdivisionNames } from "./cldr-codes.ts";
import { packageFile, readPackageJson, readPackageText } from "./packages.ts";

const COMMON = "cldr/3rdparty/cldr/common";

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "",
  textNodeName: "text",
  parseTagValue: false,
  trimValues: true,
  isArray: (name) => name === "subdivision" || name === "subdivisionAlias",
});

interface NameElement {
  readonly type: string;
  readonly draft?: string;
  readonly text?: string;
  readonly alt?: string;
}
interface NameDocument {
  readonly ldml: {
    readonly localeDisplayNames?: {
      readonly subdivisions?: { readonly subdivision?: NameElement[] };
    };
  };
}
interface AliasElement {
  readonly type: string;
  readonly replacement: string;
}
interface MetadataDocument {
  readonly supplementalData: {
    readonly metadata: { readonly alias: { readonly subdivisionAlias: readonly AliasElement[] } };
  };
}
interface ContainmentDocument {
  readonly supplemental: {
    readonly subdivisionContainment: Readonly<
      Record<string, { readonly _contains: readonly string[] }>
    >;
  };
}

/** Footnote marks and invisible characters that CLDR's gathered names carry; joiners stay: Indic scripts need them. */
const MARKS = /[\u00b9\u00b2\u00b3\u2020\u200b\u00ad\ufeff]/gu;

/** Punctuation and joiners before or after a name. */
const STRAY = /^[\s,،，;:‘\u200c\u200d-]+|[\s,،，;:‘\u200c\u200d-]+$/gu;

/** A wiki's namespace, `Kategorija:`, before a name that was gathered from it. */
const NAMESPACE = /^\p{L}+:\s*/u;

/**
 * A name as people write it: CLDR's provisional names were gathered by hand and by machine
 * and carry footnote marks, stray punctuation and wiki namespaces. Empty when it is cut off, or a code.
 */
export function cleanSubdivisionName(text: string): string {
  const plain = tidy(text.replace(MARKS, "").replace(NAMESPACE, "").replace(STRAY, ""));
  if (/[[\]↑]/u.test(plain) || /^[A-Z]{2}-[A-Z\d]+$/u.test(plain)) return "";
  const quotes = plain.match(/"/gu)?.length ?? 0;
  return quotes === 1 ? tidy(plain.replace('"', "")) : plain;
}

/** The locales that have a file of subdivision names, as BCP 47 tags in code-unit order. */
export function subdivisionLocales(): string[] {
  return readdirSync(packageFile(`${COMMON}/subdivisions/`))
    .map((file) => file.replace(/\.xml$/u, "").replaceAll("_", "-"))
    .filter((locale) => locale !== "root")
    .toSorted();
}

const readElements = memoize((locale: string): readonly NameElement[] => {
  const xml = readPackageText(`${COMMON}/subdivisions/${locale.replaceAll("-", "_")}.xml`);
  const document = parser.parse(xml) as NameDocument;
  return document.ldml.localeDisplayNames?.subdivisions?.subdivision ?? [];
});

/** CLDR's names in a locale, provisional ones too; nothing inherited. */
export const readSubdivisionNames = memoize((locale: string): SubdivisionNames => {
  const names = new Map<string, string>();
  for (const { type, text, alt } of readElements(locale)) {
    const name = cleanSubdivisionName(text ?? "");
    if (alt === undefined && name !== "") names.set(type, name);
  }
  return names;
});

/** The codes whose names in a locale CLDR's translators have voted for; all others are provisional. */
export const readVettedSubdivisions = memoize(
  (locale: string): ReadonlySet<string> =>
    new Set(
      readElements(locale)
        .filter(({ draft }) => draft === undefined)
        .map(({ type }) => type),
    ),
);

/** CLDR's successors of withdrawn subdivision codes, where there is exactly one. */
export function readSubdivisionAliases(): ReadonlyMap<string, string> {
  const document = parser.parse(
    readPackageText(`${COMMON}/supplemental/supplementalMetadata.xml`),
  ) as MetadataDocument;
  const rows = document.supplementalData.metadata.alias.subdivisionAlias;
  return new Map(
    rows
      .filter(({ replacement }) => /^[a-z0-9]+$/u.test(replacement))
      .map((row) => [row.type, row.replacement]),
  );
}

/** The codes that ISO 3166-2 has in force, as CLDR knows them. */
export function readValidSubdivisions(): ReadonlySet<string> {
  const { supplemental } = readPackageJson<ContainmentDocument>(
    "cldr-core/supplemental/subdivisionContainment.json",
  );
  return new Set(
    Object.values(supplemental.subdivisionContainment).flatMap((entry) => entry._contains),
  );
}
