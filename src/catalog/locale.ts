/** Matches a requested locale to a published one. Pure: no clock, no I/O. */
import { memoize } from "../platform/once.ts";

/** Longest accepted tag in bytes (RFC 5646, section 4.4.1). */
export const LOCALE_MAX_BYTES = 35;

/** A canonical BCP 47 tag without extensions; empty when the caller named no locale. */
export type ParsedLocale =
  | { readonly ok: true; readonly tag: string }
  | { readonly ok: false; readonly reason: "too_long" | "malformed" };

/** `none`: as requested. `parent`: a less specific tag. `default`: nothing closer is published. */
export type LocaleFallback = "none" | "parent" | "default";

interface NegotiatedLocale {
  readonly locale: string;
  readonly fallback: LocaleFallback;
}

/** Canonicalizes a caller's locale: `pt_br` to `pt-BR`, `iw` to `he`, `nb` to `no`. */
export function parseLocale(raw: string): ParsedLocale {
  const trimmed = raw.trim();
  if (trimmed === "") return { ok: true, tag: "" };
  // A UTF-16 code unit takes at least one byte of UTF-8. The parser below refuses non-ASCII text.
  if (trimmed.length > LOCALE_MAX_BYTES) return { ok: false, reason: "too_long" };
  if (!/^[A-Za-z0-9_-]+$/.test(trimmed)) return { ok: false, reason: "malformed" };
  const tag = canonicalTag(trimmed.replaceAll("_", "-"));
  return tag === "" ? { ok: false, reason: "malformed" } : { ok: true, tag };
}

/**
 * Finds the published locale for a tag of `parseLocale` by lookup (RFC 4647, section 3.4), and
 * prefers a locale in the tag's likely script. The answer is one of `available`, if there is any: a
 * setting or a restore can leave the default locale unpublished, and another one then answers.
 */
export function negotiateLocale(
  tag: string,
  available: { readonly [locale: string]: unknown },
  defaultLocale: string,
): NegotiatedLocale {
  const isDefault = tag === "" || tag === defaultLocale;
  if (isDefault && Object.hasOwn(available, defaultLocale))
    return { locale: defaultLocale, fallback: "none" };
  for (const locale of tag === "" ? [] : lookupOrder(tag)) {
    if (!Object.hasOwn(available, locale)) continue;
    return { locale, fallback: locale === tag ? "none" : "parent" };
  }
  return { locale: defaultOf(available, defaultLocale), fallback: "default" };
}

/** Returns the default locale; if it is not published, English, or else the first one that is. */
function defaultOf(
  available: { readonly [locale: string]: unknown },
  defaultLocale: string,
): string {
  if (Object.hasOwn(available, defaultLocale)) return defaultLocale;
  if (Object.hasOwn(available, "en")) return "en";
  return Object.keys(available)[0] ?? defaultLocale;
}

/** Memoized, because Intl.Locale costs several times the rest of a warm request. */
const lookupOrder = memoize((tag) => [...candidates(tag)]);

function* candidates(tag: string): Generator<string> {
  yield tag;
  const locale = new Intl.Locale(tag);
  const likely = locale.maximize();
  // Only "und" has another likely language. The default locale answers it.
  if (likely.script !== undefined && likely.language === locale.language) {
    const written = `${likely.language}-${likely.script}`;
    if (likely.region !== undefined) yield `${written}-${likely.region}`;
    yield written;
  }
  for (let parent = parentOf(tag); parent !== ""; parent = parentOf(parent)) yield parent;
}

function parentOf(tag: string): string {
  return tag.slice(0, Math.max(tag.lastIndexOf("-"), 0));
}

/**
 * Canonicalizes a tag and drops its extensions. Returns "" if it is malformed. Intl does not know
 * all tags of RFC 5646: an extended language becomes its prefix, as lookup would have it (`zh-yue` is
 * `zh`), an irregular tag its preferred value, and a tag that names no language `und`.
 */
const canonicalTag = memoize(
  (text) =>
    intlTag(text) ||
    IRREGULAR.get(text.toLowerCase()) ||
    intlTag(text.replace(EXTENDED_LANGUAGE, "$1$2")) ||
    (/^x(?:-[a-z0-9]{1,8})+$/i.test(text) ? "und" : ""),
);

/** Language, up to three extended languages, and the rest (RFC 5646, section 2.2.2). */
const EXTENDED_LANGUAGE = /^([a-z]{2,3})(?:-[a-z]{3}){1,3}(-.*)?$/i;
/** The irregular tags of RFC 5646, section 2.1, with the registry's preferred values. */
const IRREGULAR: ReadonlyMap<string, string> = new Map([
  ["en-gb-oed", "en-GB"],
  ["i-ami", "ami"],
  ["i-bnn", "bnn"],
  ["i-default", "und"],
  ["i-enochian", "und"],
  ["i-hak", "hak"],
  ["i-klingon", "tlh"],
  ["i-lux", "lb"],
  ["i-mingo", "und"],
  ["i-navajo", "nv"],
  ["i-pwn", "pwn"],
  ["i-tao", "tao"],
  ["i-tay", "tay"],
  ["i-tsu", "tsu"],
  ["sgn-be-fr", "sfb"],
  ["sgn-be-nl", "vgt"],
  ["sgn-ch-de", "sgg"],
]);

function intlTag(text: string): string {
  try {
    const { baseName, language } = new Intl.Locale(text);
    // The catalog has one Norwegian, under the code of the macrolanguage.
    const isNorwegian = language === "nb" || language === "nn";
    return isNorwegian ? `no${baseName.slice(language.length)}` : baseName;
  } catch {
    return "";
  }
}
