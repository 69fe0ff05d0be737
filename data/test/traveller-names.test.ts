import { describe, expect, it } from "vitest";
import { travellerName } from "../build/traveller-names.ts";

const airport = {
  official: "Charles de Gaulle International Airport",
  city: "Paris",
  cityPeople: 2_000_000,
  places: ["Roissy-en-France", "Île-de-France", "France"],
  others: [] as readonly string[],
};

describe("travellerName", () => {
  it("takes another source's name that has the city and a word of the official one", () => {
    const others = ["Paris Airport", "Paris Charles de Gaulle Airport"];
    expect(travellerName({ ...airport, others })).toBe("Paris Charles de Gaulle Airport");
  });

  it("puts a metropolis before the official name if no source has both", () => {
    const others = ["Paris Airport"];
    expect(travellerName({ ...airport, others })).toBe(
      "Paris Charles de Gaulle International Airport",
    );
  });

  it("takes another source's name for a smaller city", () => {
    const small = { ...airport, city: "Saintes", cityPeople: 25_000 };
    expect(travellerName({ ...small, others: ["Saintes Airport"] })).toBe("Saintes Airport");
    expect(travellerName(small)).toBeUndefined();
  });

  it("leaves a name that says where the airport is", () => {
    const others = ["Paris Charles de Gaulle Airport"];
    for (const place of ["Gaulle", "Charles Town"])
      expect(travellerName({ ...airport, places: [place], others })).toBeUndefined();
  });

  it("takes no list, no title without the airport and no name with a code for a name", () => {
    const city = { ...airport, city: "Saintes", cityPeople: 25_000 };
    for (const other of ["Saintes", "Saintes, Saintes Airport", "Saintes Airport (XST)"])
      expect(travellerName({ ...city, others: [other] })).toBeUndefined();
  });

  it("leaves out the second name of an airport that has two", () => {
    const official = "Roesmin Airport / Nurjadin Air Force Base";
    expect(travellerName({ ...airport, official })).toBe("Paris Roesmin Airport");
  });
});
