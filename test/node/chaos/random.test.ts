import { describe, expect, it } from "vitest";
import { Random } from "../../chaos/random.ts";

const draw = (random: Random) => Array.from({ length: 20 }, () => random.next());

describe("Random", () => {
  it("repeats what it drew for a seed and a name, and for no other", () => {
    expect(draw(new Random(1, "weather"))).toEqual(draw(new Random(1, "weather")));
    expect(draw(new Random(1, "weather"))).not.toEqual(draw(new Random(2, "weather")));
    expect(draw(new Random(1, "weather"))).not.toEqual(draw(new Random(1, "death")));
  });

  it("draws whole numbers from the least to the most", () => {
    const random = new Random(1, "numbers");
    const drawn = new Set(Array.from({ length: 200 }, () => random.between(3, 6)));
    expect(drawn).toEqual(new Set([3, 4, 5, 6]));
  });
});
