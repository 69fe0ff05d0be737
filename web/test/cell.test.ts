import { describe, expect, it } from "vitest";
import { cellOf } from "../explorer/map/cell.ts";

describe("the cell of an airport", () => {
  it.each<[string, [number, number][], string[]]>([
    ["alone", [], ["0.45 0.45", "0.55 0.45", "0.55 0.55", "0.45 0.55"]],
    ["west of another", [[0.51, 0.5]], ["0.45 0.45", "0.505 0.45", "0.505 0.55", "0.45 0.55"]],
    [
      "between four",
      [
        [0.51, 0.5],
        [0.49, 0.5],
        [0.5, 0.51],
        [0.5, 0.49],
      ],
      ["0.505 0.495", "0.505 0.505", "0.495 0.505", "0.495 0.495"],
    ],
    ["far from another", [[0.9, 0.5]], ["0.45 0.45", "0.55 0.45", "0.55 0.55", "0.45 0.55"]],
  ])("%s ends halfway to others", (_, others, corners) => {
    const cell = cellOf(
      { x: 0.5, y: 0.5 },
      others.map(([x, y]) => ({ x, y })),
    );
    const round = (value: number) => Number(value.toFixed(6));
    expect(cell.map(({ x, y }) => `${round(x)} ${round(y)}`)).toEqual(corners);
  });

  it("ends halfway to one beyond the date line", () => {
    const xs = cellOf({ x: 0.995, y: 0.5 }, [{ x: 0.005, y: 0.5 }]).map(({ x }) => x);
    expect(Math.max(...xs)).toBeCloseTo(1);
  });
});
