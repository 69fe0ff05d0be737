/** The door of the package for tests. It needs nothing that Jest's jsdom lacks: no network, no encoders. */
export * from "./api.ts";
export { openFrom, type SearchData } from "./picker.ts";
