/**
 * The parts of an id: UUIDv8 (RFC 9562, section 5.8). Clients only compare ids, which are stable
 * for ever. People can read where an entity comes from:
 *
 *     d6c5e9f2-5c0b-8d0e-8001-000000002217
 *     └── namespace ───┘ │└┬┘ └─ number ─┘
 *                     kind source
 *
 * Never change the namespace, a kind or a source: clients keep ids.
 */

/** 60 random bits and the version, which make the ids unique in the world. */
export const NAMESPACE = "d6c5e9f25c0b8d0e";

/** The digit that also has the variant of RFC 9562. */
export const ENTITY_KINDS = { airport: "8", city: "9", country: "a", region: "b" } as const;

export const SOURCES = {
  ourairports: "001",
  geonames: "002",
  "iso3166-1": "003",
  "iso3166-2": "004",
  m49: "005",
  travel: "006",
} as const;

export type EntityKind = keyof typeof ENTITY_KINDS;
export type SourceName = keyof typeof SOURCES;

/** Airports that OurAirports lacked when they were added have numbers from here on. */
const ADDED_NUMBERS_FROM = 1_000_000_000;

/** Names the origin of an entity by its id, such as `GeoNames 2867714`. Undefined for any other UUID. */
export function originOfId(uuid: string): string | undefined {
  const digits = uuid.replaceAll("-", "");
  if (digits.length !== 32 || !digits.startsWith(NAMESPACE)) return undefined;
  const kind = digits[16];
  const number = digits.slice(20).replace(/^0+/, "");
  switch (digits.slice(17, 20)) {
    case SOURCES.ourairports:
      if (kind !== ENTITY_KINDS.airport) return "a municipality of OurAirports";
      return Number(number) < ADDED_NUMBERS_FROM
        ? `OurAirports ${number}`
        : `our own list, ${number}`;
    case SOURCES.geonames:
      return `GeoNames ${number}`;
    case SOURCES["iso3166-1"]:
      return `ISO 3166-1 ${asciiOf(number)}`;
    case SOURCES["iso3166-2"]:
      return /^[A-Z]{2}[A-Z0-9]{1,4}$/.test(asciiOf(number))
        ? `ISO 3166-2 ${asciiOf(number).replace(/^../, "$&-")}`
        : "a subdivision of OurAirports";
    case SOURCES.m49:
      return `UN M49 ${number.padStart(3, "0")}`;
    case SOURCES.travel:
      return "our own list of travel regions";
    default:
      return undefined;
  }
}

function asciiOf(hex: string): string {
  return hex.replace(/../g, (digits) => String.fromCharCode(Number.parseInt(digits, 16)));
}
