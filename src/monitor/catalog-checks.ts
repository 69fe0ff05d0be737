/** Health checks of the served catalog. Pure. */
import { negotiateLocale } from "../catalog/locale.ts";
import { type Manifest, messageSha256 } from "../parts/manifest.ts";
import type { CurrentResult, OpenResult } from "../storage/catalog-reader.ts";
import { isFuture } from "../platform/time.ts";
import { evaluateDataAge } from "./catalog-rules.ts";
import type { Checks } from "../schemas/check.ts";
import { bothShow } from "./facts.ts";
import type { RuleContext } from "./rule.ts";
import { completeFinding } from "./rules.ts";
import { toCheck } from "./service-checks.ts";

type Unserved = Extract<CurrentResult | OpenResult, { ok: false }>["reason"];

const RESTORE_ADVICE =
  "restore the newest backup, also during a pause; without one queue an ingest with mode full, and resume";

const FAILURES: { readonly [R in Unserved]: string } = {
  nothing_published: `nothing is published, or both stores have lost the manifest, which the coordinator replaces within five minutes; if that does not help, ${RESTORE_ADVICE}`,
  unavailable: "the stores do not answer",
  data_loss: `every copy of a body is damaged or missing; ${RESTORE_ADVICE}`,
};

/** Checks without a version to serve. */
export function checkUnserved(unserved: Extract<CurrentResult, { ok: false }>): Checks {
  const { reason } = unserved;
  const damage = reason === "unavailable" ? unserved.damage : undefined;
  const output = damage === undefined ? FAILURES[reason] : `no manifest can be used: ${damage}`;
  return { "catalog:present": [{ status: "fail", output }] };
}

/** Checks the served version. Old content is no fault if upstream has not changed; old data is. */
export function checkServed(
  {
    manifest,
    opened,
    defaultLocale,
  }: {
    readonly manifest: Manifest;
    /** Results of opening bodies of the default locale. */
    readonly opened: readonly OpenResult[];
    readonly defaultLocale: string;
  },
  context: RuleContext,
): Checks {
  const dataAge = evaluateDataAge({ catalog: bothShow(manifest) }, context);
  const age = Math.round((context.now - Date.parse(manifest.published_at)) / 1000);
  const isWrong = isFuture(manifest.published_at, context.now);
  const empty = Object.entries(manifest.counts).filter(([, count]) => count === 0);
  const lost = opened.flatMap((result) => (result.ok ? [] : [result.reason])).toSorted()[0];
  const { locale, fallback } = negotiateLocale("", manifest.locales, defaultLocale);
  const names = Object.keys(manifest.locales);
  const entry = manifest.locales[locale];
  return {
    "catalog:present": [{ status: "pass", observedValue: manifest.generation }],
    "catalog:age": [
      {
        status: isWrong ? "warn" : "pass",
        observedValue: age,
        observedUnit: "s",
        ...(isWrong && { output: "the publication time is in the future: a clock was wrong" }),
      },
    ],
    "catalog:integrity": [
      lost === undefined
        ? { status: "pass", observedValue: entry === undefined ? null : messageSha256(entry) }
        : { status: "fail", output: FAILURES[lost] },
    ],
    "catalog:counts": [
      empty.length === 0
        ? { status: "pass", observedValue: manifest.counts.airports, observedUnit: "airports" }
        : { status: "fail", output: `no ${empty.map(([list]) => list).join(", no ")}` },
    ],
    "catalog:locales": [
      {
        status: fallback === "none" ? "pass" : "warn",
        observedValue: names.length,
        ...(fallback !== "none" && {
          output: `DEFAULT_LOCALE is ${defaultLocale}, which is not published, so ${locale} answers: queue an ingest, and resume if it is paused, or set it to one of ${names.join(", ")}`,
        }),
      },
    ],
    "rule:data_old": [toCheck(completeFinding("data_old", dataAge, context))],
  };
}
