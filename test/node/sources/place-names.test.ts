import { describe, expect, it } from "vitest";
import {
  citiesOfMunicipality,
  namesWithin,
  placesInBrackets,
  plainPlace,
} from "../../../src/sources/place-names.ts";

describe("the name of a municipality", () => {
  it.each([
    ["Zurich", ["Zurich"]],
    ["Phnom Penh (Boeng Khyang)", ["Phnom Penh"]],
    ["Raleigh/Durham", ["Raleigh", "Durham", "Raleigh/Durham"]],
    ["Lerwick, Shetland Islands", ["Lerwick", "Lerwick, Shetland Islands"]],
    ["Santan-Borneo Island", ["Santan"]],
    ["Kalaw Township", ["Kalaw"]],
    ["Chuja, Hach'uja-do (Chujado Islands)", ["Chuja", "Chuja, Hach'uja-do"]],
    ["", []],
  ])("leads from %j to the cities %j", (municipality, cities) => {
    expect(citiesOfMunicipality(municipality)).toEqual(cities);
  });

  it("may have the place of the runway in brackets", () => {
    expect(placesInBrackets("Frankfurt am Main (Lautzenhausen)")).toEqual(["Lautzenhausen"]);
    expect(placesInBrackets("Zurich")).toEqual([]);
  });
});

describe("plainPlace", () => {
  it.each([
    ["Syros Island", "Syros Airport", "Syros"],
    ["Manihi Atoll", "Manihi Airport", "Manihi"],
    ["Orchid Island", "Orchid Island Airport", "Orchid Island"],
    ["Great Keppel Island", "Great Keppel Is Airport", "Great Keppel Island"],
    ["Beef Island", "Terrance B. Lettsome Airport", "Beef Island"],
  ])("returns for %s at %s the name %s", (name, airport, plain) => {
    expect(plainPlace(name, airport)).toBe(plain);
  });
});

it("namesWithin finds the runs of words that an airport may be named after", () => {
  expect(namesWithin("Metz-Nancy Airport")).toEqual([
    "Metz",
    "Metz Nancy",
    "Metz Nancy Airport",
    "Nancy",
    "Nancy Airport",
    "Airport",
  ]);
});
