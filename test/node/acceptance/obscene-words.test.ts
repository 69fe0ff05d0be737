import { describe, expect, it } from "vitest";
import { gainsObscenity } from "../../../src/acceptance/obscene-words.ts";
import { airportNumber, BASEL, UpstreamLife } from "../../builders/upstream-life.ts";

describe("an obscene word", () => {
  it.each([
    "London Heathrow Shithole Airport",
    "FUCK-Airport",
    "Aéroport d’Enculé",
    "Flughafen Scheiße",
    "Flughafen Scheisse",
    "Аэропорт ХУЙ",
    "傻逼 Airport",
    "Condom Airport",
    "Fucking Airfield",
  ])("is found as a whole word in any script, case and accents: %s", (name) => {
    expect(gainsObscenity(name, [])).toBe(true);
  });

  it.each([
    "Shithead Airport",
    "Fucktown",
    "ShitholeAirport",
    "Hitlers Field",
    "Fotzenflughafen",
    "Хуйград Аэропорт",
    "Sh1t Airport",
    "S.h.i.t Airport",
    "\u0405hit Airport",
    "Аэропорт Дерьмо",
  ])("is found as the beginning of a word, and in letters that look alike: %s", (name) => {
    expect(gainsObscenity(name, [])).toBe(true);
  });

  it.each([
    "Shitara Heliport",
    "J.F.K. Airport",
    "Penistone Airfield",
    "Scunthorpe Airport",
    "Essex Airport",
    "Sussex-Middlesex Airport",
    "Dickinson Theodore Roosevelt Regional Airport",
    "Cockburn Town Airport",
    "Sassnitz",
    "Pula Airport",
    "Faro - Gago Coutinho International Airport",
    "",
  ])("is not found within another word, and not in names of places that are known: %s", (name) => {
    expect(gainsObscenity(name, [])).toBe(false);
  });

  it("does not count where the known name has it", () => {
    expect(gainsObscenity("Condom Field Airport", ["Aérodrome de Condom"])).toBe(false);
    expect(gainsObscenity("Condom Porn Airport", ["Aérodrome de Condom"])).toBe(true);
  });
});

describe("a change that brings an obscene word", () => {
  const RENAMED = [{ ...BASEL, name: "EuroAirport Shithole" }];

  it("is the most urgent one, and is never served by time alone", () => {
    const life = new UpstreamLife([BASEL, airportNumber(2, "BRN")]);
    life.nextDays(40, [...RENAMED, airportNumber(2, "BRN", { country: "DE" })]);
    expect(life.held()).toMatchObject([
      { iata: "BSL", state: "waiting", rules: ["obscene", "changes_name"] },
    ]);
    expect(life.airport("BSL")?.name).toBe(BASEL.name);
  });

  it("is served once an operator approves it, for a true name", () => {
    const life = new UpstreamLife([BASEL]);
    const condom = airportNumber(2, "XCD", { name: "Condom Airfield" });
    life.nextDays(5, [BASEL, condom]);
    expect(life.airport("XCD")).toBeUndefined();
    life.nextDay([BASEL, condom], { decisions: [life.decision("approved")] });
    expect(life.airport("XCD")?.name).toBe("Condom Airfield");
    life.nextDays(4, [BASEL, { ...condom, name: "Condom Gascogne Airfield" }]);
    expect(life.airport("XCD")?.name).toBe("Condom Gascogne Airfield");
  });

  it("is not served for the name of a subdivision either", () => {
    const life = new UpstreamLife([BASEL]);
    life.nextDays(9, [BASEL], { regions: new Map([["MA-11", "Puta Region"]]) });
    expect(life.ledger.accepted.regions).toEqual({});
    expect(life.held()).toMatchObject([{ rules: ["obscene"], name: "Puta Region" }]);
  });
});
