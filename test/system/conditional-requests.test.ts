import { describe, expect, it } from "vitest";
import { type Answer, CALL, send, type Sent } from "./http.ts";
import { FORMS } from "./wire.ts";

const GETS = {
  binary: FORMS["Connect GET, binary"]("ja"),
  JSON: FORMS["Connect GET, JSON"]("ja"),
} as const;

function withHeaders(sent: Sent, headers: { readonly [name: string]: string }): Sent {
  return { ...sent, headers: { ...sent.headers, ...headers } };
}

/** Headers that do not change from one answer to the next. */
function stable({ headers }: Answer): object {
  const { date: _, connection: __, "keep-alive": ___, ...rest } = headers;
  return rest;
}

describe.each(Object.entries(GETS))("Connect GET, %s", (_name, get) => {
  it.each(["identity", "gzip", "br"])(
    "tells its validators in %s, to HEAD as well",
    async (coding) => {
      const asked = withHeaders(get, { "accept-encoding": coding });
      const full = await send(asked);
      expect(full.status).toBe(200);
      expect(full.headers).toMatchObject({
        etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
        "last-modified": expect.stringMatching(/ GMT$/),
        "cache-control":
          "public, max-age=300, stale-while-revalidate=172800, stale-if-error=604800",
      });
      const head = await send({ ...asked, method: "HEAD" });
      expect(head.status).toBe(200);
      expect(head.body).toHaveLength(0);
      expect(stable(head)).toEqual(stable(full));
    },
  );

  it.each(["identity", "gzip", "br"])("is not sent again to who has it in %s", async (coding) => {
    const asked = withHeaders(get, { "accept-encoding": coding });
    const { headers } = await send(asked);
    const tag = headers.etag ?? "";
    for (const ifNoneMatch of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const conditional = { ...withHeaders(asked, { "if-none-match": ifNoneMatch }), method };
        const answer = await send(conditional);
        expect(answer.status).toBe(304);
        expect(answer.body).toHaveLength(0);
        expect(answer.headers["content-type"]).toBeUndefined();
        expect(answer.headers).toMatchObject({
          etag: tag,
          vary: "Accept-Encoding, Available-Dictionary",
          "cache-control": headers["cache-control"],
          "access-control-allow-origin": "*",
        });
      }
    }
  });
});

describe("a browser of another origin", () => {
  const origin = { origin: "https://app.example" };

  it("may read every answer and its headers", async () => {
    const requests: readonly (readonly [number, Sent])[] = [
      [200, FORMS["gRPC-Web text"]("de")],
      [304, withHeaders(GETS.JSON, { "if-none-match": "*" })],
      [404, { path: CALL.replace("V1", "V2"), body: "" }],
      [429, { headers: { "content-type": "application/proto" }, body: Buffer.alloc(5_120) }],
    ];
    for (const [expected, request] of requests) {
      const { status, headers } = await send(withHeaders(request, origin));
      expect(status).toBe(expected);
      expect(headers["access-control-allow-origin"]).toBe("*");
      expect(headers["access-control-allow-credentials"]).toBeUndefined();
      const exposed = headers["access-control-expose-headers"]?.toLowerCase().split(", ");
      expect(exposed).toEqual(
        expect.arrayContaining([
          "grpc-status",
          "grpc-message",
          "grpc-status-details-bin",
          "catalog-sha256",
          "catalog-version",
          "content-language",
          "locale-fallback",
          "etag",
        ]),
      );
    }
  });

  it("is told nothing by the admin routes", async () => {
    for (const path of ["/admin/ingest/queue", "/admin/nothing"]) {
      const preflight = {
        method: "OPTIONS",
        path,
        headers: { ...origin, "access-control-request-method": "POST" },
      };
      for (const request of [preflight, { path, headers: origin }]) {
        const { status, headers } = await send(request);
        expect(status).toBe(401);
        expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual(
          [],
        );
      }
    }
  });
});
