import { foldText } from "../../src/catalog/fold.ts";
import { tidy } from "./text.ts";

/** What is left of an airport's name when the words for airports are taken out. */
export function placeInAirportName(name: string): string {
  return tidy(
    name
      .replace(/\(.*?\)/gu, " ")
      .replace(
        /\b(international|regional|municipal|domestic|airport|airfield|airstrip|aerodrome|air base|airbase|heliport|helipad|seaplane base|water aerodrome|station|mine|new|old)\b/giu,
        " ",
      ),
  );
}

/** The spellings under which a municipality may be known: whole, without notes in brackets, before a comma or slash. */
export function municipalityVariants(municipality: string): string[] {
  const bare = tidy(municipality.replace(/\(.*?\)/gu, " "));
  const head = tidy(bare.split(/[,/;]/u)[0] ?? "");
  return [...new Set([tidy(municipality), bare, head])].filter((name) => foldText(name) !== "");
}
