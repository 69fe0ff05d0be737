/** Accepts upstream's names of subdivisions. They wait like changes of airports. Pure. */
import type { Ledger, UpstreamAirports } from "./airport.ts";
import { type AcceptRun, heldId, holdFor, isFree, type Subject } from "./hold.ts";
import type { HeldChange } from "../schemas/held-change.ts";
import type { HeldRule } from "../schemas/held-rules.ts";
import { gainsObscenity } from "./obscene-words.ts";

interface NameComparison extends AcceptRun {
  readonly upstream: Pick<UpstreamAirports, "regions">;
  /** The snapshot's names of subdivisions, by code. */
  readonly regionNames: ReadonlyMap<string, string>;
}

interface AcceptedNames {
  readonly regions: Ledger["accepted"]["regions"];
  readonly changes: readonly HeldChange[];
  /** Those that wait, or that somebody has rejected. */
  readonly held: readonly HeldChange[];
}

/** Compares upstream's names with the served ones. A subdivision without a name at upstream keeps its name. */
export function acceptRegionNames(comparison: NameComparison): AcceptedNames {
  const hold = holdFor(comparison);
  const changes = renamedRegions(comparison).map(({ subject, rules }) => hold(subject, rules));
  const free = changes.filter((change) => isFree(change, comparison.now));
  return {
    regions: { ...comparison.ledger.accepted.regions, ...namesOf(free) },
    changes,
    held: changes.filter((change) => !free.includes(change)),
  };
}

function renamedRegions({
  ledger,
  upstream,
  regionNames,
}: NameComparison): { readonly subject: Subject; readonly rules: readonly HeldRule[] }[] {
  const { regions } = ledger.accepted;
  return [...upstream.regions].flatMap(([code, name]) => {
    const served = regions[code] ?? regionNames.get(code);
    if (served === name) return [];
    const before = served === undefined ? null : { code, name: served };
    const after = { code, name };
    const id = heldId(code, after);
    const subject = { id, airport: null, iata: null, name: served ?? name, before, after };
    const rules: HeldRule[] = gainsObscenity(name, before === null ? [] : [before.name])
      ? ["obscene"]
      : [];
    return { subject, rules };
  });
}

/** The new names of subdivisions, by code. */
function namesOf(changes: readonly HeldChange[]): { readonly [code: string]: string } {
  return Object.fromEntries(
    changes.flatMap(({ after }) =>
      after !== null && "code" in after ? [[after.code, after.name]] : [],
    ),
  );
}
