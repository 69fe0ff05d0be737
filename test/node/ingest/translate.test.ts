import { describe, expect, it } from "vitest";
import { concatenate } from "../../../src/catalog/bytes.ts";
import { decodesTo, encodeStart } from "../../../src/catalog/dcz.ts";
import { encodeLocal } from "../../../src/catalog/encode.ts";
import type { RegionNames } from "../../../src/catalog/model.ts";
import { fillTemplate, packLayouts } from "../../../src/catalog/translation.ts";
import { compressPieces } from "../../../src/ingest/segment-coders.ts";
import { translate, type TranslationTask } from "../../../src/ingest/translate.ts";
import { aRegion } from "../../builders/catalog.ts";

/** Length of the part before; as in the real catalog, all distances are between two powers of two. */
const BEFORE = 140_000;
const CODES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** Regions of which the lengths of some messages need another varint in another locale. */
const regions = Array.from({ length: 120 }, (_, index) => {
  const key = `iso3166-2:CH-${index + 100}`;
  const airportIataCodes = Array.from({ length: 1 + ((index * 7) % 23) }, (__, code) =>
    [index % 26, code, (index * code) % 26].map((letter) => CODES[letter]).join(""),
  );
  return aRegion({ key, name: `Region ${index}`, slug: `region-${index}`, airportIataCodes });
});

const WORDS = { en: "Region", de: "Landschaft", ja: "地方", ru: "Область" };
const parts = Object.fromEntries(
  Object.entries(WORDS).map(([locale, word]) => {
    const names: RegionNames = new Map(
      regions.map(({ key, slug }, index) => [
        key,
        { name: `${word.repeat(1 + (index % 3))} ${index}`, slug: `${slug}-${locale}` },
      ]),
    );
    return [locale, encodeLocal(regions, names)];
  }),
);

function taskOf(form: TranslationTask["form"], locale: keyof typeof WORDS): TranslationTask {
  const part = parts[locale]?.[form] ?? new Uint8Array();
  const shortest = new Uint16Array(regions.length).fill(20);
  const longest = new Uint16Array(regions.length).fill(80);
  return { form, part, before: BEFORE, shortest, longest, effort: "fast" };
}

describe.each(["proto", "json"] as const)("a template in %s", (form) => {
  const locales = ["en", "de", "ja", "ru"] as const;

  it.each(locales.flatMap((from) => locales.map((to) => [from, to] as const)))(
    "makes of a body in %s that in %s",
    async (from, to) => {
      const [held, wanted] = [taskOf(form, from), taskOf(form, to)];
      const [source, target] = [await translate(held), await translate(wanted)];
      if (source === null || target === null) throw new Error("no template was made");
      expect(source.pieces).toBe(target.pieces);
      const filled = fillTemplate({
        template: target.template,
        blocks: target.blocks,
        form,
        layouts: packLayouts({ proto: source.layout, json: source.layout }),
        before: BEFORE,
      });
      if (filled === null) throw new Error("a distance fits no gap");
      const common = new Uint8Array(BEFORE).fill(7);
      const body = concatenate([common, wanted.part]);
      const dictionary = { sha256: "", bytes: BEFORE + held.part.length };
      const start = encodeStart({ dictionary, common: BEFORE, bytes: body.length });
      expect(decodesTo(concatenate([start, filled]), [common, held.part], body)).toBe(true);
      expect(filled.length).toBeLessThan(wanted.part.length / 3);
    },
  );

  it("is not made by an encoder that loses a byte of the part", async () => {
    const made = translate(taskOf(form, "de"), (pieces, effort) => {
      const changed = pieces.map((bytes, index) =>
        index === pieces.length - 1
          ? bytes.map((byte, at) => (at === 1000 ? byte ^ 1 : byte))
          : bytes,
      );
      return compressPieces(changed, effort);
    });
    await expect(made).rejects.toThrow(`the template of ${form} does not decode to its input`);
  });

  it("is not made of anything but regions with localized names", async () => {
    const task = taskOf(form, "de");
    const [renamed, wrong] = form === "proto" ? [0x22, 0x32] : [0x73, 0x53];
    const text = Buffer.from(task.part).indexOf(form === "proto" ? '"' : "slugLocalized");
    const damaged = task.part.map((byte, at) => (at >= text && byte === renamed ? wrong : byte));
    await expect(translate({ ...task, part: damaged })).rejects.toThrow(/localized/);
  });

  it("is made of a world of one region", async () => {
    const part = encodeLocal(regions.slice(0, 1), new Map());
    expect(await translate({ ...taskOf(form, "en"), part: part[form] })).not.toBeNull();
  });

  it("is not made if the part does not begin a block, and the whole body is sent", async () => {
    const made = translate(taskOf(form, "de"), (pieces, effort) =>
      compressPieces([concatenate(pieces)], effort),
    );
    expect(await made).toBeNull();
  });
});
