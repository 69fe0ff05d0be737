/** What the explorer is, as its HTML and its overview say it. */
export const INTRODUCTION = {
  heading: "The world in one call",
  text: "Every airport with an IATA code, with its city, country and regions. Search, or choose one on the map. The names of regions are in your language.",
} as const;
