import { fromBinary, fromJsonString, toBinary } from "@bufbuild/protobuf";
import { describe, expect, inject, it } from "vitest";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { framesOf } from "../builders/frames.ts";
import { brokenRules } from "./catalog-rules.ts";
import { type Answer, send, sha256 } from "./http.ts";
import { CONTENT_TYPES, decoded, type Form, FORMS } from "./wire.ts";

const { locales } = inject("service");

/** Answers without content coding, by form. */
async function answers(locale: string): Promise<{ readonly [F in Form]: Answer }> {
  const entries = Object.entries(FORMS).map(
    async ([form, request]) => [form, await send(request(locale))] as const,
  );
  return Object.fromEntries(await Promise.all(entries)) as { [F in Form]: Answer }; // keys of FORMS
}

/** Base64 is encoded while it is sent, so that such an answer has neither a coding nor a length. */
const TEXT = "gRPC-Web text" satisfies Form;

const lengthOf = (body: Buffer) => ({ "content-length": String(body.length) });

/** The one message of a gRPC-Web answer, whose call must have succeeded. */
function onlyMessage(body: Buffer): Uint8Array {
  const [data, trailer, ...more] = framesOf(body);
  expect(more).toEqual([]);
  expect(data?.flags).toBe(0);
  expect(trailer?.flags).toBe(0x80);
  expect(new TextDecoder().decode(trailer?.data)).toBe("grpc-status: 0\r\n");
  return data?.data ?? Buffer.of();
}

describe.each(locales)("the message in %s", (locale) => {
  it("has the same bytes in every form, namely those that Catalog-Sha256 names", async () => {
    const all = await answers(locale);
    const message = all["Connect, binary"].body;
    const hash = sha256(message);
    for (const [form, { status, headers, trailers, body }] of Object.entries(all)) {
      expect({ form, status, trailers }).toEqual({ form, status: 200, trailers: [] });
      expect(headers).toMatchObject({
        "content-type": CONTENT_TYPES[form as Form], // a key of FORMS
        ...(form === TEXT ? { "transfer-encoding": "chunked" } : lengthOf(body)),
        "content-language": locale,
        "catalog-sha256": hash,
        "catalog-version": "1",
      });
    }
    const text = all[TEXT].body.toString();
    expect(message.equals(all["Connect GET, binary"].body)).toBe(true);
    expect(message.equals(onlyMessage(all["gRPC-Web"].body))).toBe(true);
    expect(message.equals(onlyMessage(Buffer.from(text, "base64")))).toBe(true);
    expect(text).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
  });

  it("holds the whole catalog, equal to its JSON, and encoded exactly as protobuf-es encodes it", async () => {
    const all = await answers(locale);
    const message = all["Connect, binary"].body;
    const json = all["Connect, JSON"].body;
    expect(json.equals(all["Connect GET, JSON"].body)).toBe(true);
    const parsed = fromJsonString(LocationsResponseSchema, json.toString());
    expect(message.equals(toBinary(LocationsResponseSchema, parsed))).toBe(true);
    const binary = fromBinary(LocationsResponseSchema, message);
    expect(message.equals(toBinary(LocationsResponseSchema, binary))).toBe(true);
    expect(parsed.$unknown ?? []).toEqual([]);
    expect(brokenRules(parsed, locale)).toEqual([]);
  });
});

describe.each(Object.keys(FORMS) as Form[])("an answer over %s", (form) => {
  // keys of FORMS
  const { headers: asked, ...request } = FORMS[form]("ar");

  // One coding each: the edge that is imitated here codes JSON again where it prefers another one.
  it.each(["identity", "gzip", "br"])("comes in %s", async (coding) => {
    const answer = await send({ ...request, headers: { ...asked, "accept-encoding": coding } });
    expect(answer.headers["content-encoding"] ?? "identity").toBe(
      form === TEXT ? "identity" : coding,
    );
    const { "content-length": length, "transfer-encoding": transfer } = answer.headers;
    expect([length, transfer]).toEqual(
      form === TEXT ? [undefined, "chunked"] : [String(answer.body.length), undefined],
    );
    expect(decoded(answer).equals((await send(FORMS[form]("ar"))).body)).toBe(true);
  });
});

it("the messages of two locales differ only in their regions", async () => {
  const messages = await Promise.all(
    locales.map(async (locale) => (await send(FORMS["Connect, binary"](locale))).body),
  );
  expect(new Set(messages.map(sha256)).size).toBe(locales.length);
  const common = messages.map((message) => {
    const response = fromBinary(LocationsResponseSchema, message);
    return sha256(toBinary(LocationsResponseSchema, { ...response, regions: [] }));
  });
  expect(new Set(common).size).toBe(1);
});
