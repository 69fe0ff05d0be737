import { describe, expect, it } from "vitest";
import { aHandler, aPost, bytesOf, trailerOf, URL_OF_METHOD } from "./requests.ts";

/** A POST whose body arrives in chunks, without a length unless one is given. */
function aStream(
  contentType: string,
  chunks: Uint8Array[],
  headers: Record<string, string> = {},
): { request: Request; cancelled: () => boolean; wasRead: () => boolean } {
  let cancelled = false;
  let wasRead = false;
  const remaining = [...chunks];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = remaining.shift();
      wasRead = chunk === undefined;
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel() {
      cancelled = true;
    },
  });
  const init = {
    method: "POST",
    headers: { "content-type": contentType, ...headers },
    body,
    duplex: "half",
  };
  const request = new Request(URL_OF_METHOD, init);
  return { request, cancelled: () => cancelled, wasRead: () => wasRead };
}

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"));

describe("a body", () => {
  it("delays the answer no longer than the client has time, though it announces few bytes", async () => {
    const { handler } = aHandler();
    const late = new ReadableStream<Uint8Array>({
      async start(controller) {
        await new Promise((resolve) => setTimeout(resolve, 60));
        controller.enqueue(hex("0a02656e"));
        controller.close();
      },
    });
    const headers = {
      "content-type": "application/proto",
      "content-length": "4",
      "connect-timeout-ms": "30",
    };
    const post = new Request(URL_OF_METHOD, { method: "POST", headers, body: late });
    expect((await handler(post)).status).toBe(504);
  });

  it("leads to invalid_argument if it is not base64 but should be", async () => {
    const { handler } = aHandler();
    const headers = { "content-type": "application/grpc-web-text" };
    const response = await handler(
      new Request(URL_OF_METHOD, { method: "POST", headers, body: "*" }),
    );
    const body = Buffer.from(Buffer.from(await bytesOf(response)).toString(), "base64");
    expect(trailerOf(new Uint8Array(body), "grpc-status")).toBe("3");
  });
});

describe("a body over 4,096 bytes", () => {
  it("ends in a refusal without reading the rest", async () => {
    const { handler } = aHandler();
    const chunks = Array.from({ length: 100 }, () => new Uint8Array(512));
    const { request, cancelled } = aStream("application/proto", chunks);
    const response = await handler(request);
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ code: "resource_exhausted" });
    expect(cancelled()).toBe(true);
  });

  it("ends in a refusal by its announced length, with the same message in each protocol", async () => {
    const { handler } = aHandler();
    const ask = async (contentType: string) => {
      const announced = { "content-length": "9000" };
      const { request, cancelled } = aStream(contentType, [new Uint8Array(8)], announced);
      const answer = await handler(request);
      expect(cancelled()).toBe(true);
      return answer;
    };
    const message = "message size 9000 is larger than configured readMaxBytes 4096";
    expect(await (await ask("application/proto")).json()).toMatchObject({ message });
    const trailer = trailerOf(await bytesOf(await ask("application/grpc-web")), "grpc-message");
    expect(decodeURIComponent(trailer ?? "")).toBe(message);
  });

  it.each([
    ["a message of 4 GiB", "00ffffffff"],
    ["a message of 4,097 bytes", "0000001001"],
    ["a trailer of 4 GiB", "80ffffffff"],
  ])("ends in a refusal by a prefix that announces %s", async (_, prefix) => {
    const { handler } = aHandler();
    const binary = await handler(aStream("application/grpc-web+proto", [hex(prefix)]).request);
    expect(trailerOf(await bytesOf(binary), "grpc-status")).toBe("8");
    const text = Buffer.from(Buffer.from(prefix, "hex").toString("base64"));
    const base64 = await handler(aStream("application/grpc-web-text", [text]).request);
    const body = Buffer.from(Buffer.from(await bytesOf(base64)).toString(), "base64");
    expect(trailerOf(new Uint8Array(body), "grpc-status")).toBe("8");
  });
});

describe("a body of another length than announced", () => {
  it.each(["3", "5"])("ends in a refusal: 4 bytes announced as %s", async (announced) => {
    const { handler } = aHandler();
    expect((await handler(aPost("application/proto"))).status).toBe(200);
    const headers = { "content-type": "application/proto", "content-length": announced };
    const request = new Request(URL_OF_METHOD, { method: "POST", headers, body: hex("0a02656e") });
    const response = await handler(request);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "invalid_argument" });
  });

  it("counts as no bug if the client has disconnected", async () => {
    const { handler, logged } = aHandler();
    const broken = (): ReadableStream<Uint8Array> =>
      new ReadableStream({ pull: (controller) => controller.error(new Error("connection lost")) });
    for (const headers of [{ "content-length": "4" }, undefined]) {
      const init = {
        method: "POST",
        headers: { "content-type": "application/proto", ...headers },
        body: broken(),
        duplex: "half",
      };
      const response = await handler(new Request(URL_OF_METHOD, init));
      expect(response.status).toBe(499);
    }
    expect(logged).toEqual([]);
  });
});

describe("JSON with a charset", () => {
  const spellings = [
    [true, "; charset=utf-8", ";charset=UTF8", "; charset= utf-8", ' ; Charset = "utf-8"'],
    [false, "; charset=utf-16", "; charset=", "; a=b", ";", "; charset=utf-8; charset=utf-8"],
  ] as const;
  const types = ["application/json", "application/grpc-web+json"] as const;
  const cases = spellings.flatMap(([isTaken, ...all]) =>
    all.flatMap((charset) => types.map((type) => [isTaken, type, charset] as const)),
  );

  it.each(cases)("is taken (%s): %s%s", async (isTaken, type, charset) => {
    const { handler } = aHandler();
    const headers = { "content-type": `${type}${charset}` };
    const response = await handler(aPost(type, { locale: "de", headers }));
    expect(response.status).toBe(isTaken ? 200 : 415);
    if (!isTaken) return;
    const usual = await handler(aPost(type, { locale: "de" }));
    expect(response.headers.get("content-type")).toBe(type);
    expect(await bytesOf(response)).toEqual(await bytesOf(usual));
  });
});

describe("a body that is not needed for the answer", () => {
  it.each([
    [404, "http://localhost/locations.v1.LocationsService/Nope", "POST", "application/proto"],
    [405, URL_OF_METHOD, "PUT", "application/proto"],
    [415, URL_OF_METHOD, "POST", "application/grpc"],
    [400, URL_OF_METHOD, "POST", "application/json"],
  ])(
    "flows to its end before the answer %i, so that the client can reuse its connection",
    async (status, url, method, contentType) => {
      const { handler } = aHandler();
      const chunks = Array.from({ length: 3 }, () => new Uint8Array(10));
      const headers = { "connect-timeout-ms": "malformed" };
      const { request, wasRead } = aStream(contentType, chunks, headers);
      const response = await handler(new Request(url, new Request(request, { method })));
      expect(response.status).toBe(status);
      expect(wasRead()).toBe(true);
    },
  );

  it("stops before the answer if it continues after 8 KiB or stalls", async () => {
    const { handler } = aHandler();
    const url = "http://localhost/locations.v1.LocationsService/Nope";
    const chunks = Array.from({ length: 100 }, () => new Uint8Array(512));
    const long = aStream("application/proto", chunks);
    expect((await handler(new Request(url, long.request))).status).toBe(404);
    expect(long.cancelled()).toBe(true);
    const stalled = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
    const init = { method: "POST", body: stalled, duplex: "half" };
    expect((await handler(new Request(url, init))).status).toBe(404);
  });

  it("stops before the answer to a preflight", async () => {
    const { handler } = aHandler();
    const headers = { origin: "https://example.com", "access-control-request-method": "POST" };
    const { request, cancelled } = aStream("application/proto", [new Uint8Array(10)], headers);
    const response = await handler(new Request(request, { method: "OPTIONS" }));
    expect(response.status).toBe(204);
    expect(cancelled()).toBe(true);
  });
});
