import { Converter } from "opencc-js";
import { readSubdivisionNames, type SubdivisionNames } from "./subdivisions.ts";

const simplify = Converter({ from: "t", to: "cn" });
const traditionalize = Converter({ from: "cn", to: "tw" });

function mapNames(names: SubdivisionNames, change: (name: string) => string): SubdivisionNames {
  return new Map([...names].map(([code, name]) => [code, change(name)]));
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
