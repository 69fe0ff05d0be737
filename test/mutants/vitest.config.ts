/** The tests of the pure rooms, for `npm run mutants`. */
import { defineConfig } from "vitest/config";
import { fuzzSettings } from "../fuzz-settings.ts";

export default defineConfig({
  test: {
    include: ["test/node/{acceptance,catalog,monitor,sources}/**/*.test.ts"],
    provide: { fuzz: fuzzSettings({}) },
  },
});
