import type { Findings } from "./findings.ts";
import type { Row, Tables } from "./snapshot-reader.ts";

/**
 * Each correction is of an airport that was changed, added or closed, with the IATA code that it had
 * before unless it was added.
 */
export function checkCorrections({ airports, corrections }: Tables, findings: Findings): void {
  const now = new Map(airports.map((row) => [row["id"], row]));
  findings.unique(
    corrections.map(({ id = "" }) => id),
    "ids of corrections",
  );
  findings.every(
    corrections,
    (row) => (isAdded(row) ? now.has(row["id"]) : /^[A-Z]{3}$/u.test(row["iata_code"] ?? "")),
    "a correction has the airport's earlier code, or is of an airport that was added",
  );
  findings.every(
    corrections,
    (row) => JSON.stringify(row) !== JSON.stringify(now.get(row["id"])),
    "a correction changes its airport",
  );
}

function isAdded({ id, ...rest }: Row): boolean {
  return Object.values(rest).every((value) => value === "");
}
