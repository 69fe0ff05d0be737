import { expect, it } from "vitest";
import { isSameName, shareWord } from "../../../src/acceptance/airport-names.ts";

it.each([
  ["Basel Airport", "EuroAirport Basel", true],
  ["Andijan Airport", "Andijana Airport", true],
  ["Euro Ghost", "EuroAirport Basel", false],
  ["Basle Ghost", "Basel", false],
  ["O Ghost", "O Basel", false],
  ["Ghost International Airport", "Basel International Airport", false],
])("tells whether %s and %s share a word that tells airports apart: %s", (a, b, shared) => {
  expect(shareWord(a, b)).toBe(shared);
  expect(shareWord(b, a)).toBe(shared);
});

it.each([
  ["La Guardia", "LaGuardia", true],
  ["Zürich-Kloten", "Zurich Kloten", true],
  ["成田", "成田", true],
  ["成田", "羽田", false],
  ["Ghost", "羽田", false],
])("tells whether %s and %s are one name: %s", (a, b, same) => {
  expect(isSameName(a, b)).toBe(same);
});
