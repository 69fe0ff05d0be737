/** The search alone, as the explorer uses it. Pure: no page, no network. */
export { countryNames } from "./country-names.ts";
export { type Ranks, type RanksFile, readRanks } from "./ranks.ts";
export { type Found, search, SEARCH_LIMIT } from "./search.ts";
export {
  addOtherNames,
  createSearchIndex,
  listPlaces,
  type OtherNames,
  type SearchIndex,
} from "./search-index.ts";
