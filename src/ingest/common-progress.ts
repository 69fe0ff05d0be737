/** How far a run has stored what all locales share. Pure: reads checkpoints only. */
import { type CommonPiece, type CommonUnit, commonUnits, countPieces } from "./bodies.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Content } from "./content.ts";

/** What was built, from the guard stage on. */
export function contentOf({ content }: Checkpoint): Content {
  if (content === null) throw new Error("nothing was built");
  return content;
}

/** The pieces of a unit that have been stored, in order. */
export function piecesOf({ common }: Checkpoint, unit: CommonUnit): readonly CommonPiece[] {
  const index = commonUnits().findIndex(
    ({ representation, coding }) =>
      representation === unit.representation && coding === unit.coding,
  );
  return common[index] ?? [];
}

/** The unit that is to be stored next, or to be gone on with; undefined once all are stored. */
export function nextCommon(
  checkpoint: Checkpoint,
): { readonly unit: CommonUnit; readonly index: number } | undefined {
  for (const [index, unit] of commonUnits().entries())
    if (stepsDone(checkpoint, unit) < stepsOf(checkpoint, unit)) return { unit, index };
  return undefined;
}

/** Steps that store what is common: those that are done, and all of them. */
export function countCommon(checkpoint: Checkpoint): {
  readonly done: number;
  readonly total: number;
} {
  const sum = (of: (checkpoint: Checkpoint, unit: CommonUnit) => number) =>
    commonUnits().reduce((steps, unit) => steps + of(checkpoint, unit), 0);
  return { done: sum(stepsDone), total: sum(stepsOf) };
}

/** An uncompressed unit is stored in one step, a compressed one piece by piece. */
function stepsOf(checkpoint: Checkpoint, unit: CommonUnit): number {
  return unit.coding === "identity" ? 1 : countPieces(unit, contentOf(checkpoint).commonBytes);
}

function stepsDone(checkpoint: Checkpoint, unit: CommonUnit): number {
  const { length } = piecesOf(checkpoint, unit);
  return unit.coding === "identity" ? Math.min(1, length) : length;
}
