import { Converter } from "opencc-js";
import type { SubdivisionNames } from "./cldr-codes.ts";
import { readSubdivisionNames } from "./subdivisions.ts";

const simplify = Converter({ from: "t", to: "cn" });
const toTraditional = Converter({ from: "cn", to: "tw" });
/** Letters that OpenCC writes as other words have them: names spell sounds with these. */
const IN_NAMES = new Map(
  Array.from("託裡紮佔採巖", (letter, at) => [letter, "托里扎占采岩"[at] ?? ""]),
);

function traditionalize(name: string): string {
  return toTraditional(name).replaceAll(/./gu, (letter) => IN_NAMES.get(letter) ?? letter);
}

const HAN_ALONE = /^\p{Script=Han}+$/u;

/** A name, and if it may be Chinese, how it is written in either script. */
export function inBothScripts(name: string): string[] {
  return HAN_ALONE.test(name) ? [...new Set([name, simplify(name), traditionalize(name)])] : [name];
}

/** Names by code or key. */
type Names = ReadonlyMap<string, string>;

function mapNames(names: Names, change: (name: string) => string): Names {
  return new Map([...names].map(([code, name]) => [code, change(name)]));
}

/** Names in simplified script, put into the traditional one, and those that stand in it already. */
export function inTraditional(simplified: Names, traditional: Names): Names {
  return new Map([...mapNames(simplified, traditionalize), ...traditional]);
}

/**
 * CLDR's names of subdivisions in Chinese, each in the script of its locale.
 * CLDR gathers both scripts under `zh` and has three names under `zh-Hant`;
 * OpenCC sorts them out: what stands in the right script already is left alone.
 */
export function readChineseNames(locale: "zh" | "zh-Hant"): SubdivisionNames {
  const mixed = readSubdivisionNames("zh");
  if (locale === "zh") return mapNames(mixed, simplify);
  const traditional = mapNames(mixed, (name) =>
    simplify(name) === name ? traditionalize(name) : name,
  );
  return new Map([...traditional, ...readSubdivisionNames("zh-Hant")]);
}
