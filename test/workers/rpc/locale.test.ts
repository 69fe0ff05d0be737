import { describe, expect, it } from "vitest";
import { RecordingReader } from "../../builders/recording-reader.ts";
import { aGet, aHandler, aPost, bytesOf } from "./requests.ts";

describe("the locale of an answer", () => {
  it.each([
    ["", "en", null],
    ["en", "en", null],
    ["DE", "de", null],
    ["de_AT", "de", "parent"],
    ["nb", "no", null],
    ["iw", "he", null],
    ["zh-TW", "zh-Hant", "parent"],
    ["fr-CH", "en", "default"],
  ])(
    "follows the requested locale %j: %s with the fallback %j",
    async (asked, locale, fallback) => {
      const { handler, reader } = aHandler();
      for (const request of [
        aPost("application/proto", { locale: asked }),
        aGet({ locale: asked }),
      ]) {
        const response = await handler(request);
        expect(response.headers.get("content-language")).toBe(locale);
        expect(response.headers.get("locale-fallback")).toBe(fallback);
        expect(await bytesOf(response)).toEqual(reader.bytes(locale, "proto", "identity"));
      }
    },
  );

  it("has a separate fallback for each of two requests that get the same body", async () => {
    const { handler } = aHandler();
    for (const [asked, fallback] of [
      ["de", null],
      ["de-AT", "parent"],
      ["de", null],
    ] as const) {
      const response = await handler(aGet({ locale: asked }));
      expect(response.headers.get("locale-fallback")).toBe(fallback);
    }
  });

  it.each([false, true])(
    "is the first one that is published if neither the default locale nor English is; in memory: %s",
    async (holds) => {
      const { handler, reader, logged } = aHandler({
        reader: new RecordingReader({ locales: ["de", "he"] }),
      });
      if (holds) await reader.hold();
      const { url } = aGet({ locale: "" });
      const pin = `${url}&v=${reader.messageSha256("de")}`;
      for (const request of [
        aGet({ locale: "fr" }),
        aGet({ locale: "en", headers: { "connect-timeout-ms": "5000" } }),
        aGet({ locale: "" }),
        new Request(pin),
        aPost("application/proto", { locale: "" }),
        // An unusual call.
        aPost("application/proto", { headers: { "content-encoding": "identity" } }),
      ]) {
        const response = await handler(request);
        expect(response.headers.get("content-language")).toBe("de");
        expect(response.headers.get("locale-fallback")).toBe("default");
        expect(await bytesOf(response)).toEqual(reader.bytes("de", "proto", "identity"));
      }
      const statusOf = async (headers: Record<string, string>) =>
        (await handler(aGet({ locale: "fr", headers }))).status;
      expect(await statusOf({ "if-none-match": "*" })).toBe(304);
      expect(await statusOf({ "if-match": '"x"' })).toBe(412);
      expect(logged).toEqual([]);
    },
  );
});
