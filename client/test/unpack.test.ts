import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { inTasks, packCatalog, unpackCatalog } from "../src/catalog.ts";
import { readRanks } from "../src/search/ranks.ts";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { snapshotResponse } from "../../test/builders/snapshot-response.ts";

it("the world is packed in lines of a few hundred places, so that no task of a page parses it all", async () => {
  const answer = snapshotResponse();
  const lines = packCatalog(answer, readRanks()).split("\n");
  const sizes = lines.map((line) => Object.values<readonly unknown[]>(JSON.parse(line))[0]?.length);
  expect(Math.max(...sizes.map(Number))).toBeLessThanOrEqual(500);
  const { airports, regions } = await unpackCatalog(lines.join("\n"));
  expect(airports.map(({ iata }) => iata)).toEqual(answer.airports.map(({ iata }) => iata));
  expect(regions.map(({ slug }) => slug)).toEqual(answer.regions.map(({ slug }) => slug));
});

it("an answer without any place is unpacked as well", async () => {
  const nothing = packCatalog(create(LocationsResponseSchema), readRanks());
  const empty = { airports: [], cities: [], countries: [], regions: [] };
  expect(await unpackCatalog(nothing)).toEqual(empty);
});

it("long work shares its task neither with what calls it nor with what follows it", async () => {
  const done: string[] = [];
  const working = inTasks(["work"], (item) => {
    done.push(item);
    setImmediate(() => done.push("another task"));
  });
  await Promise.resolve();
  done.push("the caller");
  await working;
  expect(done).toEqual(["the caller", "work", "another task"]);
});
