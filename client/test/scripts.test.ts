import { expect, it } from "vitest";
import type { AirportPlace } from "../src/catalog.ts";
import { readKana } from "../src/search/kana.ts";
import { snapshotFinder } from "../../test/builders/catalog-finder.ts";
import { otherNames } from "../../web/build/search-files.ts";

const { catalog, find } = await snapshotFinder();
const names = otherNames();

/** What a text finds, the codes of airports alone. */
function airportsFor(typed: string): (string | undefined)[] {
  return find(typed).map(({ place }) => (place.kind === "airport" ? place.iata : undefined));
}

/** Names of an airport and its city in a script. */
function namesIn(script: RegExp, { iata, city }: AirportPlace): string[] {
  const columns = [names.airports[iata], names.local?.[iata], names.cities[city.id]];
  return columns.flatMap((column) => column?.split("|") ?? []).filter((name) => script.test(name));
}

it.each([
  ["TH", /^\p{Script=Thai}+$/u],
  ["GR", /^[\p{Script=Greek} ]+$/u],
  ["GE", /^[\p{Script=Georgian} ]+$/u],
  ["SA", /^[\p{Script=Arabic} ]+$/u],
  ["JP", /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+$/u],
  ["KR", /^[\p{Script=Hangul} ]+$/u],
  ["CN", /^\p{Script=Han}+$/u],
])("finds nine of ten airports in %s by a name in the country's script", (country, script) => {
  const served = catalog.airports.filter(
    ({ city, hasScheduledService }) => hasScheduledService && city.country.code === country,
  );
  const found = served.filter((airport) =>
    namesIn(script, airport).some((name) =>
      find(name).some(({ place }) => place.id === airport.id),
    ),
  );
  expect(served.length).toBeGreaterThan(3);
  expect(found.length / served.length).toBeGreaterThanOrEqual(0.9);
});

it.each([
  ["はねだ", "HND"],
  ["ハネダ", "HND"],
  ["おおさか", "KIX"],
  ["とうきょう", "HND"],
  ["きょうとくうこう", "ITM"],
  ["ちとせ", "CTS"],
  ["いしがき", "ISG"],
  ["にゅーよーく", "JFK"],
  ["ろんどん", "LHR"],
  ["しどにー", "SYD"],
  ["みゅんへん", "MUC"],
  ["ソウル", "ICN"],
  ["そうる", "ICN"],
])("finds %s, which is in kana, as %s", (typed, iata) => {
  expect(airportsFor(typed).slice(0, 4)).toContain(iata);
});

it("reads kana in katakana, and as English has it with long vowels short", () => {
  const read = ["しょうない", "ちゅうぶ", "さっぽろ", "ヴェローナ", "大阪", "Osaka"].map(readKana);
  expect(read).toEqual([
    ["ショウナイ", "shonai"],
    ["チュウフ", "chubu"],
    ["サッホロ", "sapporo"],
    ["ウェローナ"],
    [],
    [],
  ]);
});

/** As the languages have it, and as it is written without their letters or with those of another. */
it.each([
  ["da", "Århus Aarhus", "AAR"],
  ["da", "Ålborg Aalborg", "AAL"],
  ["no", "Ålesund Aalesund", "AES"],
  ["no", "Tromsø Tromsö Tromsoe", "TOS"],
  ["no", "Bodø Bodoe", "BOO"],
  ["sv", "Malmö Malmø Malmoe", "MMX"],
  ["sv", "Göteborg Gøteborg Goeteborg", "GOT"],
  ["fi", "Jyväskylä Jyvaeskylae Jyvæskylæ", "JYV"],
  ["de", "Zürich Zuerich", "ZRH"],
  ["de", "Köln Koeln Køln", "CGN"],
  ["de", "Düsseldorf Duesseldorf", "DUS"],
  ["is", "Egilsstaðir Egilsstadir Egilsstadhir", "EGS"],
  ["sr", "Đerba Djerba", "DJE"],
  ["vi", "Đà_Nẵng Da_Nang", "DAD"],
  ["tr", "Eskişehir Eskisehir Eskishehir", "AOE"],
  ["tr", "Diyarbakır Diyarbakir", "DIY"],
  ["tr", "Çanakkale Chanakkale", "CKZ"],
  ["tr", "Ağrı Aghri", "AJI"],
  ["tk", "Aşgabat Ashgabat", "ASB"],
  ["sk", "Košice Koshice", "KSC"],
  ["sr", "Priština Prishtina", "PRN"],
  ["es", "Logroño Logronyo", "RJL"],
  ["ca", "A_Coruña La_Corunya", "LCG"],
  ["ro", "Constanța Constantsa", "CND"],
])("finds in %s each spelling of %s", (_, spellings, iata) => {
  const missed = spellings
    .split(" ")
    .map((spelling) => spelling.replace("_", " "))
    .filter((typed) => !airportsFor(typed).slice(0, 3).includes(iata));
  expect(missed).toEqual([]);
});
