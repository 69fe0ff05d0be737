import { describe, expect, it } from "vitest";
import { isServable, withoutCapitals, withoutNotes } from "../../../src/sources/clean-names.ts";

describe("a text of upstream's", () => {
  it.each([
    ["markup", "<b>Charles de Gaulle</b> Airport"],
    ["half of a tag", "Charles de Gaulle > Airport"],
    ["a control character", "Zürich\u0007 Airport"],
    ["a character that turns the direction", "Zürich \u202etropriA"],
    ["a mark of direction", "Zürich\u200f Airport"],
    ["an isolate of direction", "\u2066Zürich\u2069 Airport"],
    ["a space without width", "Zür\u200bich Airport"],
    ["a soft hyphen", "Zür\u00adich Airport"],
    ["a letter that is invisible", "\u3164"],
    ["an invisible start of a syllable", "Zürich \u115f"],
    ["an invisible joiner of accents", "Zür\u034fich"],
    ["a variation selector", "Zürich\ufe01"],
    ["a dash alone", "-"],
    ["a question mark alone", "?"],
    ["digits alone", "12345"],
    ["a private character", "Zürich \ue000 Airport"],
    ["an emoji", "Zürich 💩 Airport"],
    ["an emoji of signs in a row", "Zürich ✈️ Airport"],
    ["a flag", "Zürich 🇨🇭 Airport"],
    ["a key", "Zürich 1⃣ Airport"],
    ["a box", "Zürich ███ Airport"],
    ["heaps of accents", "Zu\u0308\u0301\u0302\u0303\u0304rich"],
    ["an address", "Visit https://taxi.example now"],
    ["a host", "Barcelona cheap taxi www.bcn-taxi.example"],
    ["a host in capitals", "BARCELONA WWW.TAXI"],
    ["a domain", "Barcelona bcn-taxi.example"],
    ["a domain in capitals", "BARCELONA TAXI.COM"],
    ["a short domain with a path", "Barcelona t.me/abc"],
    ["a short domain with a path in capitals", "BARCELONA T.ME/ABC"],
    ["half of an address", "Barcelona http//taxi"],
    ["a top-level domain after a space", "Heathrow .com"],
    ["a mail address", "taxi@bcn Barcelona"],
    ["over 120 characters", "Ä".repeat(121)],
  ])("fails the check for %s", (_, text) => {
    expect(isServable(text)).toBe(false);
  });

  it.each([
    "",
    "Ä".repeat(120),
    "St.Gallen–Altenrhein (People’s) Airport / ACH, No.2 & N°3",
    "Zone 4 S.A./Puerto",
    "Gral. Bernardo O´Higgins Airport",
    "Dr.Nnamdi Azikiwe Airport",
    "Sân bay Quốc tế Đà Nẵng",
    "สนามบินสุวรรณภูมิ",
    "नई दिल्ली",
    "مطار القاهرة",
    "*Offshore Platforms",
    "Ghost",
  ])("passes the check: %s", (text) => {
    expect(isServable(text)).toBe(true);
  });
});

describe("a text in capitals alone", () => {
  it.each([
    ["LONDON HEATHROW AIRPORT", "London Heathrow Airport"],
    ["CHARLES DE GAULLE AIRPORT", "Charles de Gaulle Airport"],
    ["LA GUARDIA AIRPORT", "La Guardia Airport"],
    ["JFK INTERNATIONAL AIRPORT", "JFK International Airport"],
    ["JOÃO PAULO II AIRPORT", "João Paulo II Airport"],
    ["RAF NORTHOLT", "RAF Northolt"],
    ["CHICAGO O'HARE AIRPORT", "Chicago O'Hare Airport"],
    ["UMARU MUSA YAR’ADUA AIRPORT", "Umaru Musa Yar’adua Airport"],
    ["MT. COOK-ST. MORITZ", "Mt. Cook-St. Moritz"],
    ["ZÜRICH", "Zürich"],
    ["ALL CAPS!!! AIRPORT", "All Caps!!! Airport"],
    ["NEBİLER HELIPORT", "Nebiler Heliport"],
    ["МОСКВА", "Москва"],
  ])("becomes title case: %s", (text, rewritten) => {
    expect(withoutCapitals(text)).toBe(rewritten);
  });

  it.each(["JFK", "KLIA", "JASDF Hyakuri Air Base", "RNZAF Base Ohakea", "成田", "A 1", ""])(
    "stays as it is if a word may be an acronym or has small letters beside it: %s",
    (text) => {
      expect(withoutCapitals(text)).toBe(text);
    },
  );
});

describe("a name that is repeated in another script", () => {
  it.each([
    ["Narita Airport - 成田空港", "Narita Airport"],
    ["Kyiv / Київ / Киев", "Kyiv"],
    ["Sochi – Сочи 2", "Sochi"],
    ["Sochi - Сочи - Sochi", "Sochi - Сочи - Sochi"],
    ["Base - 12", "Base - 12"],
    ["Base - 12 / Сочи", "Base"],
    ["Сочи - Адлер", "Сочи"],
    ["Сочи-Адлер", "Сочи-Адлер"],
  ])("is served without it: %s", (name, plain) => {
    expect(withoutNotes(name)).toBe(plain);
  });
});
