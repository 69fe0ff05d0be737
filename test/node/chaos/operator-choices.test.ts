import { describe, expect, it } from "vitest";
import { chooseAction } from "../../chaos/operator-choices.ts";

const NUMBERS = Array.from({ length: 400 }, (_, index) => index + 1);

/** What the operator does, where each action draws as often as the answers make it. */
function act(seed: number, drawn: (number: number) => number) {
  return NUMBERS.map((number) => {
    const { action, restMs, random } = chooseAction(seed, number);
    const first = random.next();
    for (let times = drawn(number); times > 0; times--) random.next();
    return { action, restMs, first };
  });
}

describe("chooseAction", () => {
  it("chooses the same for a seed, however often the actions before it drew", () => {
    expect(act(7, () => 0)).toEqual(act(7, (number) => number % 5));
  });

  it("chooses otherwise for another seed", () => {
    expect(act(7, () => 0)).not.toEqual(act(8, () => 0));
  });

  it("chooses each action, publishing most often", () => {
    const counts = new Map<string, number>();
    for (const { action } of act(7, () => 0)) counts.set(action, (counts.get(action) ?? 0) + 1);
    expect(counts.size).toBe(14);
    const [most] = [...counts].toSorted(([, a], [, b]) => b - a);
    expect(most?.[0]).toBe("publish");
  });
});
