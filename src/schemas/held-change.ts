/** The only schema of a held change: the archived file, the OpenAPI document and types follow from it. */
import * as z from "zod";
import { deadline, type DeepReadonly, timestamp } from "./fields.ts";
import { HELD_RULES } from "./held-rules.ts";

/**
 * - `waiting`: until upstream has said the same for long enough, or somebody decides.
 * - `approved`: the next run accepts it, unless its code still belongs to another airport.
 * - `rejected`: until upstream says something else.
 * - `corrected`: the snapshot knows better, until upstream says something else.
 */
export const HELD_STATES = ["waiting", "approved", "rejected", "corrected"] as const;

const airportRecord = z
  .strictObject({
    iata: z.string().meta({ example: "AGU" }),
    /** Empty if it has none. */
    icao: z.string().meta({ example: "MMAS" }),
    name: z.string().meta({ example: "Jesús Terán Peredo International Airport" }),
    lat: z.number().meta({ example: 21.6996 }),
    lon: z.number().meta({ example: -102.3184 }),
    country: z.string().meta({ example: "MX" }),
    /** ISO 3166-2 code as OurAirports has it, or a placeholder such as `FR-U-A`. */
    region: z.string().meta({ example: "MX-AGU" }),
    /** Empty if unknown. */
    municipality: z.string().meta({ example: "Aguascalientes" }),
    type: z.string().meta({ example: "medium_airport" }),
    scheduled: z.boolean(),
  })
  .meta({ id: "AirportRecord", description: "An airport as upstream writes it." });
export type AirportRecord = DeepReadonly<z.output<typeof airportRecord>>;

const regionRecord = z
  .strictObject({ code: z.string(), name: z.string() })
  .meta({ id: "RegionRecord", description: "A subdivision that the snapshot does not know." });

const record = z.union([airportRecord, regionRecord]).nullable();

export const heldChangeSchema = z
  .strictObject({
    id: z.string().meta({ description: "Another one as soon as upstream says something else." }),
    state: z.enum(HELD_STATES),
    airport: z.string().nullable().meta({
      description: "Number of the airport, as in its id; null for the name of a subdivision.",
    }),
    iata: z.string().meta({ example: "AGU" }).nullable(),
    name: z.string().meta({ example: "Aguascalientes International Airport" }),
    rules: z
      .array(z.enum(HELD_RULES))
      .meta({ description: "Why an operator should look at it; the most urgent rule first." }),
    before: record.meta({ description: "Null if it is not served." }),
    after: record.meta({ description: "Null if upstream does not list it." }),
    since: timestamp.meta({ description: "Since when upstream differs from the served value." }),
    wanted_since: timestamp.meta({ description: "Since when upstream says `after`." }),
    due_at: deadline.nullable().meta({
      description:
        "The first run after this time accepts it without a decision, if upstream still says so. Null if only a decision ends the wait.",
    }),
    last_seen: timestamp,
    run_id: z.string().meta({ description: "The run that saw it first." }),
    source: z.string().meta({ description: "The source that says so." }),
    decided_by: z.string().nullable(),
    decided_at: timestamp.nullable(),
    note: z.string().nullable(),
  })
  .meta({
    id: "HeldChange",
    description: "A change of an airport, or of the name of a subdivision, that is not served.",
  });

export type HeldChange = DeepReadonly<z.output<typeof heldChangeSchema>>;
