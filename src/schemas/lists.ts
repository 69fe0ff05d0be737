export const LISTS = ["airports", "cities", "countries", "regions"] as const;
export type ListName = (typeof LISTS)[number];
