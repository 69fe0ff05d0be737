/** A small world whose upstream people edit, through the real acceptance and build over stores in memory. */
import {
  ACCEPTED_FILE,
  decodeAccepted,
  decodeHeld,
  HELD_FILE,
  type LedgerFiles,
  ledgerOf,
} from "../../src/ingest/ledger-files.ts";
import type { HeldChange } from "../../src/schemas/held-change.ts";
import { idKey } from "../../src/catalog/ids.ts";
import { sha256Hex } from "../../src/catalog/bytes.ts";
import { acceptSources } from "../../src/ingest/accept-sources.ts";
import { createWorkspace } from "../../src/ingest/workspace.ts";
import { ourAirports } from "../../src/sources/our-airports.ts";
import { snapshotOpener } from "../../src/sources/snapshot.ts";
import { memorySourceArchive } from "./memory-source-archive.ts";
import { aSnapshot, smallAirports } from "./small-snapshot.ts";
import { anAirportRow, csvOf, type Row } from "./source.ts";
import { DEPLOYED_LIMITS } from "./hold-limits.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const FIRST_DAY = Date.parse("2026-11-01T04:17:00.000Z");

/** An airport that few travellers use, and which the snapshot gives no city. */
export function aFieldRow(changes: Row = {}): Row {
  const place = { latitude_deg: "47.35", longitude_deg: "8.72", municipality: "Uster" };
  const codes = { iata_code: "XFD", icao_code: "", gps_code: "" };
  const size = { type: "small_airport", scheduled_service: "no" };
  return anAirportRow({ id: "900", name: "Uster Field", ...codes, ...size, ...place, ...changes });
}

/** Codes of airports with scheduled service. */
export const LINES = "ABCDEFGHIJKL".split("").map((letter) => `XS${letter}`);

/** Upstream's files. */
export interface Said {
  readonly airports: readonly Row[];
  readonly regions: readonly Row[];
}

/** Upstream as people have checked it: CH-VS is a subdivision that the snapshot has no region for. */
export const HONEST: Said = {
  airports: [
    ...smallAirports,
    aFieldRow(),
    anAirportRow({
      id: "901",
      name: "Sion Airport",
      iata_code: "SIR",
      icao_code: "LSGS",
      iso_region: "CH-VS",
      municipality: "Sion",
      latitude_deg: "46.2196",
      longitude_deg: "7.3268",
    }),
    ...LINES.map((iata_code, index) =>
      anAirportRow({
        id: String(910 + index),
        name: `${iata_code} Airport`,
        iata_code,
        icao_code: "",
        gps_code: "",
        type: "small_airport",
        municipality: `Town ${iata_code}`,
        latitude_deg: String(40 + index),
      }),
    ),
  ],
  regions: [
    { code: "CH-ZH", name: "Zürich" },
    { code: "CH-VS", name: "Valais" },
  ],
};

/** The served catalog: the fields of each airport by code, and the names of the regions. */
export type Served = ReadonlyMap<string, { readonly [field: string]: string }>;

export class EditedWorld {
  readonly #archive = memorySourceArchive();
  readonly #open = snapshotOpener(aSnapshot({ airports: HONEST.airports }));
  #ledgers: readonly LedgerFiles[] = [];
  #day = 0;
  held: readonly HeldChange[] = [];
  /** Reasons of the rejected rows of the last day. */
  rejects: readonly string[] = [];

  /** Ingests on the next day, and returns the served catalog. */
  async nextDay({ airports, regions }: Said): Promise<Served> {
    const upstream = {
      "airports.csv": await this.#put(csvOf(airports)),
      "regions.csv": await this.#put(csvOf(regions, ["code", "name"])),
    };
    const now = FIRST_DAY + this.#day++ * DAY_MS;
    const accepted = await acceptSources(
      { archive: this.#archive, openSnapshot: this.#open, limits: DEPLOYED_LIMITS, now: () => now },
      {
        source: "ourairports",
        reader: ourAirports,
        sources: upstream,
        ledgers: this.#ledgers,
        decisions: [],
        mode: "incremental",
        runId: `run-${this.#day}`,
      },
    );
    const { read, regionRejects, files } = accepted;
    this.rejects = [...read.rejects, ...regionRejects].map(({ reason }) => reason);
    this.#ledgers = [ledgerOf(files)].filter((ledger) => ledger !== null);
    this.held = await decodeHeld(await this.#archive.open(HELD_FILE, files[HELD_FILE] ?? ""));
    return this.#build({ ...upstream, ...files });
  }

  async #put(text: string): Promise<string> {
    const bytes = new TextEncoder().encode(text);
    await this.#archive.write(sha256Hex(bytes), bytes);
    return sha256Hex(bytes);
  }

  async #build(sources: { readonly [file: string]: string }): Promise<Served> {
    const open = async (file: string, sha256: string) => this.#archive.open(file, sha256);
    const { catalog } = await createWorkspace(sources, open, this.#open);
    const accepted = await decodeAccepted(await open(ACCEPTED_FILE, sources[ACCEPTED_FILE] ?? ""));
    const inService = new Set(
      accepted.airports.filter(({ scheduled }) => scheduled).map(({ iata }) => iata),
    );
    const countries = new Map(catalog.countries.map(({ id, isoCode2 }) => [idKey(id), isoCode2]));
    const cities = new Map(catalog.cities.map((city) => [idKey(city.id), city]));
    const airports = catalog.airports.map(({ iata, icao, name, lat, lon, cityId }) => {
      const city = cities.get(idKey(cityId));
      const regions = catalog.regions.filter(({ airportIataCodes }) =>
        airportIataCodes.includes(iata),
      );
      const fields = {
        name,
        icao,
        position: `${lat} ${lon}`,
        city: city?.name ?? "",
        country: (city && countries.get(idKey(city.countryId))) ?? "",
        regions: regions.map((region) => region.name).join(", "),
        service: inService.has(iata) ? "yes" : "no",
      };
      return [iata, fields] as const;
    });
    return new Map(airports);
  }
}

/** The changes of the served catalog, such as `ZRH name: Ghost`, `+ XNW` and `- XFD`. */
export function differences(before: Served, after: Served): string[] {
  const gone = [...before.keys()].filter((iata) => !after.has(iata)).map((iata) => `- ${iata}`);
  const others = [...after].flatMap(([iata, fields]) => {
    const known = before.get(iata);
    if (known === undefined) return [`+ ${iata} ${fields["name"]}`];
    return Object.entries(fields)
      .filter(([field, value]) => known[field] !== value)
      .map(([field, value]) => `${iata} ${field}: ${value}`);
  });
  return [...gone, ...others];
}
