import { isKnownName } from "../../src/acceptance/rules.ts";
import type { Change } from "./airport-changes.ts";
import { type AirportRow, type Day, isOpen } from "./airports.ts";
import { isNear } from "../../src/catalog/positions.ts";

/**
 * What has become of airports with scheduled service since an earlier day though no curated row says
 * why: they are gone, or have another code, or their code is another airport's.
 */
export function checkLosses(
  day: Day,
  airports: readonly AirportRow[],
  changes: readonly Change[],
): string[] {
  const byId = new Map(airports.map((airport) => [airport.id, airport]));
  const byCode = new Map(airports.map((airport) => [airport.iata, airport]));
  const explained = new Set(changes.map(({ id }) => Number(id)));
  return day.rows
    .filter((row) => isOpen(row) && row.scheduledService === "yes" && !explained.has(row.id))
    .flatMap((row) => {
      const fate = fateOf(row, byId.get(row.id), byCode.get(row.iata));
      if (fate === undefined) return [];
      return [
        `${row.iata} (${row.name}, id ${row.id}) has scheduled service in ${day.source}, but ${fate}: ` +
          "say in curated/airports.csv what has happened, or restore it by a row there",
      ];
    });
}

function fateOf(
  row: AirportRow,
  sameId: AirportRow | undefined,
  sameCode: AirportRow | undefined,
): string | undefined {
  if (sameCode !== undefined && isNear(row, sameCode)) return undefined;
  if (sameId?.iata === row.iata) return undefined;
  if (sameId !== undefined) return `has the code ${sameId.iata} now`;
  if (sameCode !== undefined) return `its code is that of ${sameCode.name}, id ${sameCode.id}, now`;
  return "is gone";
}

/**
 * The names that have no word in common with those of an earlier day, nor with their municipality's:
 * more likely vandalism than a new name, unless a curated row has the name.
 */
export function checkNames(
  day: Day,
  airports: readonly AirportRow[],
  changes: readonly Change[],
): string[] {
  const before = new Map(day.rows.map((row) => [row.id, row]));
  const told = new Map(
    changes.filter(({ name }) => name !== "").map(({ id, name }) => [Number(id), name]),
  );
  return airports.flatMap(({ id, iata, name, municipality }) => {
    const old = before.get(id);
    if (old === undefined || told.get(id) === name) return [];
    if (isKnownName(name, { name: old.name, municipality })) return [];
    return [
      `${iata}: "${name}" has no word in common with "${old.name}" in ${day.source}: ` +
        "if it is true, say so by a row in curated/airports.csv that has the name",
    ];
  });
}
