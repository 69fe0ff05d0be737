import * as z from "zod";

const kilometers = z.number().min(0);

export const suggestionSchema = z
  .strictObject({
    kind: z.enum(["airport", "city", "country", "region"]),
    id: z.uuid().meta({ description: "As the catalog has it." }),
    name: z.string().meta({
      description:
        "In the language of the answer, where that has one; of an airport as travellers say it.",
      example: "Munich",
    }),
    where: z.string().meta({
      description: "Tells apart places of one name. Empty for a country.",
      example: "Maine, United States",
    }),
    matched: z.array(z.tuple([z.int(), z.int()])).meta({
      description:
        "Where in the name that is which was typed, as beginnings and ends in UTF-16; empty if the place was found by another name.",
    }),
    countryCode: z.string().length(2).nullable().meta({
      description: "ISO 3166-1 alpha-2; null for a region of several countries.",
    }),
    position: z.strictObject({ lat: z.number(), lon: z.number() }).nullable().meta({
      description: "Of an airport or a city, in degrees.",
    }),
    airports: z.array(z.string()).meta({
      description:
        "IATA codes: of an airport its own, of anything else those of its airports, the busiest first.",
    }),
    timeZone: z.string().nullable().meta({
      description: "IANA time zone of an airport, or of a city's busiest one.",
      example: "Europe/Berlin",
    }),
    isUnderCity: z.boolean().meta({
      description: "Whether it is an airport that is listed under its city.",
    }),
    replaces: z
      .strictObject({
        iata: z.string().meta({ description: "Empty where another airport has the code today." }),
        name: z.string(),
        names: z.array(z.string()).meta({ description: "What else travellers type." }),
        year: z.int().meta({ description: "In which the flights moved." }),
        successor: z.string().meta({ description: "IATA code of this airport." }),
      })
      .exactOptional()
      .meta({ description: "The closed airport that was typed, where it leads to this one." }),
    near: z.strictObject({ name: z.string(), distanceKm: kilometers }).exactOptional().meta({
      description: "The place without an airport that was typed, and how far this one is from it.",
    }),
  })
  .meta({ id: "Suggestion", description: "A place that was found, as a picker lists it." });
