/** Colors of the map, from the page. */
export interface MapColors {
  readonly sea: string;
  readonly land: string;
  readonly landSelected: string;
  readonly border: string;
  readonly dot: string;
  readonly dotFaint: string;
  readonly selected: string;
  readonly ring: string;
  readonly label: string;
  readonly labelHalo: string;
}

/** Reads the colors from the style sheet, which has a light and a dark set. */
export function readMapColors(element: Element): MapColors {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  return {
    sea: color("--map-sea"),
    land: color("--map-land"),
    landSelected: color("--map-land-selected"),
    border: color("--map-border"),
    dot: color("--map-dot"),
    dotFaint: color("--map-dot-faint"),
    selected: color("--map-selected"),
    ring: color("--map-ring"),
    label: color("--map-label"),
    labelHalo: color("--map-label-halo"),
  };
}
