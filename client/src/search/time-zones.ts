import { isRecord, isTextByKey } from "./shape.ts";

/** The time zones of the airports with scheduled service, in few bytes: most are their country's first. */
export interface TimeZones {
  /** IANA names by ISO 3166-1 alpha-2 code of the city's country, with spaces between them, the most frequent first. */
  readonly countries: { readonly [code: string]: string };
  /** The position among those of its country, a digit of base 36 for each airport, the busiest first. */
  readonly airports: string;
}

/** Whether a value of a file is one. */
export function isTimeZones(value: unknown): value is TimeZones {
  return (
    isRecord(value) && isTextByKey(value["countries"]) && typeof value["airports"] === "string"
  );
}

/**
 * The zone of the airport of a traffic rank; empty where nothing is known of it.
 *
 * @param country of the airport's city.
 */
export function timeZoneAt(zones: TimeZones | undefined, rank: number, country: string): string {
  const names = zones?.countries[country]?.split(" ") ?? [];
  return names[Number.parseInt(zones?.airports[rank] ?? "", 36)] ?? "";
}
