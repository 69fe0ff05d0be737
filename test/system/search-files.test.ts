import { readdirSync } from "node:fs";
import { describe, expect, inject, it } from "vitest";
import { send } from "./http.ts";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };

const { url } = inject("service");

it("each file that the service hands out has a media type, which browsers may not guess", async () => {
  const files = readdirSync("dist/web", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "_headers")
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice("dist/web".length));
  expect(files).toEqual(expect.arrayContaining(["/client.tgz", "/locations.proto"]));
  const types = await Promise.all(
    files.map(async (path) => {
      const { headers } = await fetch(url + path, { method: "HEAD" });
      return [path, headers.get("content-type")] as const;
    }),
  );
  expect(types.filter(([, type]) => type === null)).toEqual([]);
  expect(new Map(types).get("/locations.proto")).toBe("text/plain; charset=utf-8");
});

describe.each([
  "/openapi.json",
  "/search/v1/ranks.json",
  "/search/v1/names.json",
  "/search/v1/served.json",
  "/search/v1/cities/de.json",
])("%s", (path) => {
  it("allows the scripts of any origin to send headers of their own, such as those of tracing", async () => {
    const asked = "baggage,traceparent";
    const headers = {
      origin: "https://example.com",
      "access-control-request-method": "GET",
      "access-control-request-headers": asked,
    };
    const answer = await send({ method: "OPTIONS", path, headers });
    expect(answer.status).toBe(204);
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, HEAD",
      "access-control-allow-headers": asked,
    });
  });

  it("takes no other method", async () => {
    for (const method of ["POST", "DELETE", "OPTIONS"])
      expect((await send({ method, path })).status).toBe(405);
    const { status, body } = await send({ method: "HEAD", path });
    expect({ status, bytes: body.byteLength }).toEqual({ status: 200, bytes: 0 });
  });
});

describe("/search/v1/suggest", () => {
  const path = "/search/v1/suggest?q=m%C3%BCnchen&locale=de";

  it("suggests places of the deployed files, to scripts of any origin", async () => {
    const answer = await fetch(url + path);
    const { headers } = answer;
    expect(await answer.text()).toContain('"name":"München","where":"Deutschland"');
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("cache-control")).toMatch(/^public, max-age=86400,/);
    const known = { "if-none-match": headers.get("etag") ?? "" };
    expect((await fetch(url + path, { headers: known })).status).toBe(304);
  });

  it("answers preflights as the files do, and HEAD", async () => {
    const headers = {
      origin: "https://example.com",
      "access-control-request-method": "GET",
      "access-control-request-headers": "traceparent",
    };
    const answer = await send({ method: "OPTIONS", path, headers });
    expect(answer.headers).toMatchObject({
      "access-control-allow-methods": "GET, HEAD",
      "access-control-allow-headers": "traceparent",
    });
    const { status, body } = await send({ method: "HEAD", path });
    expect({ status, bytes: body.byteLength }).toEqual({ status: 200, bytes: 0 });
  });

  it("says what is wrong with a query, and takes no other method", async () => {
    const wrong = await fetch(`${url}/search/v1/suggest?q=a&limit=0`);
    expect(await wrong.json()).toMatchObject({ status: 400, code: "invalid_query" });
    expect((await fetch(url + path, { method: "POST" })).status).toBe(405);
  });
});

it("a file that is none is answered as any other path", async () => {
  const answer = await fetch(`${url}/search/v1/none.json`);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ code: "not_found" });
});

describe.each([
  ["ranks.json", ["airports", "tiers", "names", "cities", "codes", "apart", "closed", "timeZones"]],
  ["names.json", ["airports", "cities", "local", "regions", "regionCodes", "nearby"]],
  [
    "served.json",
    [
      "airports",
      "cities",
      "countries",
      "regions",
      "members",
      "names",
      "codes",
      "closed",
      "timeZones",
    ],
  ],
  ["cities/ja.json", ["airports", "names"]],
])("/search/v1/%s", (name, keys) => {
  const address = `${url}/search/v1/${name}`;

  it("allows scripts of any origin to read it and to keep it for a day", async () => {
    const { headers } = await fetch(address, { headers: { origin: "https://example.com" } });
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-expose-headers")).toBe("ETag");
    expect(headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(headers.get("cache-control")).toMatch(/^public, max-age=86400,/);
  });

  it("answers 304 to whoever has it", async () => {
    const { headers } = await fetch(address);
    const again = await fetch(address, { headers: { "if-none-match": headers.get("etag") ?? "" } });
    expect(again.status).toBe(304);
  });

  it("has the documented keys", async () => {
    const file = (await (await fetch(address)).json()) as object;
    expect(Object.keys(file)).toEqual(keys);
  });
});

it.each(["br, gzip", "gzip"])("served.json has at most 150 kB as it comes (%s)", async (coding) => {
  const { status, body, headers } = await send({
    method: "GET",
    path: "/search/v1/served.json",
    headers: { "accept-encoding": coding },
  });
  expect(status).toBe(200);
  expect(coding).toContain(headers["content-encoding"]);
  expect(body.length).toBeLessThanOrEqual(150_000);
});

it("the ranked cities of the search belong to the catalog, by their ids", async () => {
  const { cities } = (await (await fetch(`${url}/search/v1/ranks.json`)).json()) as {
    readonly cities: readonly string[];
  };
  expect(cities.length).toBeGreaterThan(manifest.counts.cities / 3);
  expect(cities.filter((id) => !/^d6c5e9f2-5c0b-8d0e-9002-\d{12}$/.test(id))).toEqual([]);
});
