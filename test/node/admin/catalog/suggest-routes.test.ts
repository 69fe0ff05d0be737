import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answerUsual } from "../../../../src/search/answer.ts";
import { Suggester } from "../../../../src/search/suggester.ts";
import { AdminWorld } from "../../../builders/admin-world.ts";
import { readerOf, searchAssets } from "../../../builders/search-assets.ts";

let readAsset: AdminWorld["readAsset"];
let world: AdminWorld;

beforeAll(async () => {
  readAsset = readerOf(await searchAssets());
});

beforeEach(() => {
  world = new AdminWorld();
  world.readAsset = readAsset;
});

const suggest = (query: string, init: RequestInit = {}) =>
  world.send(`/search/v1/suggest${query}`, init);

async function namesOf(query: string): Promise<string[]> {
  const answer = await suggest(query);
  expect(answer.status, query).toBe(200);
  const { suggestions } = (await answer.json()) as { suggestions: { name: string }[] };
  return suggestions.map(({ name }) => name);
}

describe("GET /search/v1/suggest", () => {
  it("answers in the language of the reader, for a day, to scripts of any origin", async () => {
    const answer = await suggest("?q=munich&locale=de");
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/json",
      "content-language": "de",
      "cache-control": "public, max-age=86400, stale-while-revalidate=2592000",
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "ETag,Retry-After",
    });
    const { suggestions } = (await answer.json()) as { suggestions: object[] };
    expect(suggestions.slice(0, 2)).toMatchObject([
      {
        kind: "city",
        id: expect.stringMatching(/^[-0-9a-f]{36}$/),
        name: "München",
        where: "Deutschland",
        matched: [],
        countryCode: "DE",
        position: { lat: expect.closeTo(48.35, 1), lon: expect.closeTo(11.79, 1) },
        airports: ["MUC"],
        timeZone: "Europe/Berlin",
        isUnderCity: false,
      },
      { kind: "airport", name: "Munich Airport", where: "München, Deutschland", matched: [[0, 6]] },
    ]);
  });

  it.each([
    ["München", "Munich"],
    ["ミュンヘン", "Munich"],
    ["Мюнхен", "Munich"],
    ["MUC", "Munich"],
    ["東京", "Tokyo"],
    ["はねだ", "Tokyo Haneda"],
    ["new  YORK", "New York"],
    ["zermatt", "Zürich"],
  ])("finds %s as %s", async (typed, name) => {
    const names = await namesOf(`?q=${encodeURIComponent(typed)}`);
    expect(names.slice(0, 2).join()).toContain(name);
  });

  it("answers 304 to whoever has the answer", async () => {
    const etag = (await suggest("?q=par")).headers.get("etag") ?? "";
    const again = await suggest("?q=par", { headers: { "if-none-match": `W/${etag}` } });
    expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, etag, ""]);
    expect((await suggest("?q=lon")).headers.get("etag")).not.toBe(etag);
  });

  it("suggests as many places as wanted, eight at most", async () => {
    expect(await namesOf("?q=san")).toHaveLength(8);
    expect(await namesOf("?q=san&limit=8")).toHaveLength(8);
    expect(await namesOf("?q=san&limit=1")).toEqual((await namesOf("?q=san")).slice(0, 1));
  });

  it.each([
    ["nothing", "?q="],
    ["spaces", "?q=%20%20"],
    ["10,000 letters", `?q=${"a".repeat(10_000)}`],
    ["10,000 letters that begin as a name", `?q=London%20${"a".repeat(10_000)}`],
    ["2,000 words", `?q=${"a%20".repeat(2_000)}`],
    ["control characters", "?q=%00%01%7F%C2%85"],
    ["half a character", "?q=%F0%9F"],
    ["a script without names", "?q=%F0%90%8C%B0%F0%90%8C%B1"],
    ["an emoji", "?q=%F0%9F%9B%AB"],
    ["letters that nothing begins with", "?q=qqxz"],
    ["a name and more", "?q=heathrowx"],
  ])("finds nothing by %s", async (_, query) => {
    expect(await namesOf(query)).toEqual([]);
  });

  it.each([
    ["", "invalid_query", "q: this parameter is missing"],
    ["?q=a&q=b", "duplicate_parameter", 'The parameter "q" is given twice.'],
    ["?q=a&limit=0", "invalid_query", "limit: must be at least 1"],
    ["?q=a&limit=-1", "invalid_query", "limit: must be at least 1"],
    ["?q=a&limit=", "invalid_query", "limit: must be at least 1"],
    ["?q=a&limit=9", "invalid_query", "limit: must be at most 8"],
    ["?q=a&limit=1e9", "invalid_query", "limit: must be at most 8"],
    ["?q=a&limit=1.5", "invalid_query", "limit: must be a whole number"],
    ["?q=a&limit=abc", "invalid_query", "limit: must be a number"],
    ["?q=a&limit=1&limit=2", "duplicate_parameter", 'The parameter "limit" is given twice.'],
    ["?q=a&locale=!!", "invalid_query", "locale: must be a BCP 47 tag"],
    [`?q=a&locale=${"a".repeat(1_000)}`, "invalid_query", "locale: must be a BCP 47 tag"],
    ["?q=a&locale=de&locale=fr", "duplicate_parameter", 'The parameter "locale" is given twice.'],
  ])("refuses %j", async (query, code, detail) => {
    const answer = await suggest(query);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code, detail });
  });

  it.each(["", "tlh", "x-klingon", "en-XX"])("answers in English in the locale %j", async (tag) => {
    const answer = await suggest(`?q=munich&locale=${tag}`);
    expect(answer.headers.get("content-language")).toMatch(/^en/);
    expect(JSON.stringify(await answer.json())).toContain('"where":"Munich, Germany"');
  });

  it.each([
    "?q=munich&locale=de",
    "?q=m%C3%BCnchen&limit=1",
    "?q=",
    "?locale=pt_br&q=san&limit=8",
    `?q=${"a".repeat(10_000)}`,
  ])("needs no code of the routes for the usual request %s", async (query) => {
    const suggester = new Suggester(readAsset);
    const usual = async (init: RequestInit = {}) =>
      answerUsual(
        new Request(`https://example.com/search/v1/suggest${query}`, init),
        (wanted) => suggester.suggest(wanted),
        world.ingest.defaultLocale,
      );
    const [quick, routed] = [await usual(), await suggest(query)];
    const headers = Object.fromEntries(quick?.headers ?? []);
    expect(Object.keys(headers)).toContain("etag");
    expect(Object.fromEntries(routed.headers)).toMatchObject(headers);
    expect([quick?.status, await quick?.text()]).toEqual([200, await routed.text()]);
    const known = { headers: { "if-none-match": headers["etag"] ?? "" } };
    expect((await usual(known))?.status).toBe(304);
    expect(await usual({ method: "HEAD" })).toBeUndefined();
  });

  it.each(["", "?q=a&q=b", "?q=a&limit=9", "?q=a&limit=01", "?q=a&locale=!!", "?q=a&_=1"])(
    "leaves the request %s to the routes",
    async (query) => {
      const request = new Request(`https://example.com/search/v1/suggest${query}`);
      const unasked = async () => Promise.reject(new Error("asked"));
      expect(await answerUsual(request, unasked, "en")).toBeUndefined();
    },
  );

  it.each(["POST", "PUT", "DELETE"])("takes no %s", async (method) => {
    const answer = await suggest("?q=a", { method });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("answers HEAD without the places", async () => {
    const answer = await suggest("?q=par", { method: "HEAD" });
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
    expect(answer.headers.get("etag")).toBe((await suggest("?q=par")).headers.get("etag"));
  });

  it("says that it cannot be had now, and recovers", async () => {
    world.isolate = world.newIsolate();
    world.readAsset = async () => Promise.reject(new Error("gone"));
    const failed = await suggest("?q=par");
    expect([failed.status, failed.headers.get("retry-after")]).toEqual([503, "10"]);
    expect(await failed.json()).toMatchObject({ code: "search_unavailable" });
    world.readAsset = readAsset;
    expect((await suggest("?q=par")).status).toBe(200);
  });
});
