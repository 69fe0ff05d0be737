import { expect, it } from "vitest";
import { changedSlugs } from "../build/changed-slugs.ts";

const row = (key: string, name: string, slug: string) => ({ key, name, slug });

it("asks for a reason why a published slug is another", () => {
  const published = [
    row("iso3166-2:DE-BY", "Bayern", "bayern-de"),
    row("iso3166-2:UA-51", "Odessa", "odessa-ua"),
    row("iso3166-2:TR-48", "Ain", "ain-tr"),
    row("iso3166-2:FR-BRE", "Bretagne", "bretagne-fr"),
  ];
  const names = [
    row("iso3166-2:DE-BY", "Bayern", "bayern-de"),
    row("iso3166-2:UA-51", "Oblast Odessa", "oblast-odessa-ua"),
    row("iso3166-2:FR-BRE", "Bretagne", ""),
  ];
  const found = changedSlugs(published, { locale: "de", names });
  expect(found.map(({ key, now, reason }) => [key, now, reason])).toEqual([
    ["iso3166-2:UA-51", "oblast-odessa-ua", "another name"],
    ["iso3166-2:TR-48", "", "no name"],
    ["iso3166-2:FR-BRE", "", undefined],
  ]);
});
