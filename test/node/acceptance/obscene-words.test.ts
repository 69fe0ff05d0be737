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
  ])("counts as a whole word in any script, case and accents: %s", (name) => {
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
  ])("counts at the beginning of a word, and in letters that look alike: %s", (name) => {
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
  ])("does not count within another word or in a known place name: %s", (name) => {
    expect(gainsObscenity(name, [])).toBe(false);
  });

  it("does not count when the known name already has it", () => {
    expect(gainsObscenity("Condom Field Airport", ["Aérodrome de Condom"])).toBe(false);
    expect(gainsObscenity("Condom Porn Airport", ["Aérodrome de Condom"])).toBe(true);
  });
});

describe("a change that brings an obscene word", () => {
  const RENAMED = [{ ...BASEL, name: "EuroAirport Shithole" }];

  it("heads the list of held changes and never reaches callers by time alone", () => {
    const life = new UpstreamLife([BASEL, airportNumber(2, "BRN")]);
    life.nextDays(40, [...RENAMED, airportNumber(2, "BRN", { country: "DE" })]);
    expect(life.held()).toMatchObject([
      { iata: "BSL", state: "waiting", rules: ["obscene", "changes_name"] },
    ]);
    expect(life.airport("BSL")?.name).toBe(BASEL.name);
  });

  it("reaches callers once an operator approves it, because a true name may contain the word", () => {
    const life = new UpstreamLife([BASEL]);
    const condom = airportNumber(2, "XCD", { name: "Condom Airfield" });
    life.nextDays(5, [BASEL, condom]);
    expect(life.airport("XCD")).toBeUndefined();
    life.nextDay([BASEL, condom], { decisions: [life.decision("approved")] });
    expect(life.airport("XCD")?.name).toBe("Condom Airfield");
    life.nextDays(4, [BASEL, { ...condom, name: "Condom Gascogne Airfield" }]);
    expect(life.airport("XCD")?.name).toBe("Condom Gascogne Airfield");
  });

  it("stays held in the name of a subdivision as well", () => {
    const life = new UpstreamLife([BASEL]);
    life.nextDays(9, [BASEL], { regions: new Map([["MA-11", "Puta Region"]]) });
    expect(life.ledger.accepted.regions).toEqual({});
    expect(life.held()).toMatchObject([{ rules: ["obscene"], name: "Puta Region" }]);
  });
});
