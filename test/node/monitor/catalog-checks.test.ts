import { expect, it } from "vitest";
import { checkServed } from "../../../src/monitor/catalog-checks.ts";
import { ago, DEFAULT_LIMITS, HOUR_MS, NOW } from "../../builders/facts.ts";
import { aManifest } from "../../builders/manifest.ts";

it("checkServed warns of a version that is published in the future", () => {
  const ageOf = (published_at: string) => {
    const served = { manifest: aManifest({ published_at }), opened: [], defaultLocale: "en" };
    return checkServed(served, { now: NOW, limits: DEFAULT_LIMITS })["catalog:age"];
  };
  expect(ageOf(ago(HOUR_MS))).toEqual([
    { status: "pass", observedValue: 3_600, observedUnit: "s" },
  ]);
  expect(ageOf(ago(-HOUR_MS))).toMatchObject([{ status: "warn", observedValue: -3_600 }]);
});
