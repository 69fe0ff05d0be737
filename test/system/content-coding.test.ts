import { describe, expect, it } from "vitest";
import { type Answer, send, type Sent, sha256 } from "./http.ts";
import { CONTENT_TYPES, decoded, type Form, FORMS } from "./wire.ts";

type Coding = "br" | "gzip" | undefined;

/** What a client accepts, and the coding that it gets. */
const ACCEPTED: readonly (readonly [string | undefined, Coding])[] = [
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["deflate", undefined],
  ["zstd", undefined],
  ["br;q=0, gzip;q=0", undefined],
  ["gzip", "gzip"],
  ["gzip;q=1.0, br;q=0.5", "gzip"],
  ["br", "br"],
  ["gzip, deflate, br, zstd", "br"],
  ["*", "br"],
];

/**
 * `wrangler dev` imitates an edge that codes JSON anew, where it would itself choose another coding
 * than the Worker has chosen. Only what the body decodes to is then the Worker's.
 */
const RECODED_LOCALLY = new Set<string | undefined>(["gzip, deflate, br, zstd", "*"]);

const forms = Object.keys(FORMS) as Form[]; // keys of FORMS

function accepting(accepted: string | undefined, { headers, ...sent }: Sent): Sent {
  return accepted === undefined
    ? { headers: headers ?? {}, ...sent }
    : { headers: { ...headers, "accept-encoding": accepted }, ...sent };
}

/** What must be equal in answers to equal requests. */
function essence({ status, headers, body }: Answer): object {
  const { date: _, ...stable } = headers;
  return { status, headers: stable, body: sha256(body) };
}

describe.each(forms)("%s", (form) => {
  const request = FORMS[form]("ru");

  it.each(ACCEPTED)("to a client that accepts %j sends %s", async (accepted, coding) => {
    const plain = await send(request);
    const { status, headers, body } = await send(accepting(accepted, request));
    expect(status).toBe(200);
    expect(headers.vary).toBe("Accept-Encoding");
    expect(headers["content-type"]).toBe(CONTENT_TYPES[form]);
    expect(decoded({ status, headers, body, trailers: [] }).equals(plain.body)).toBe(true);
    if (CONTENT_TYPES[form] === "application/json" && RECODED_LOCALLY.has(accepted)) return;
    expect(headers["content-encoding"]).toBe(coding);
    expect(headers["content-length"]).toBe(String(body.length));
    expect(headers["transfer-encoding"]).toBeUndefined();
    expect(body.length).toBeLessThan(coding === undefined ? Infinity : plain.body.length);
  });

  it("gives each coding a tag of its own", async () => {
    const answers = await Promise.all(
      ["identity", "gzip", "br"].map((coding) => send(accepting(coding, request))),
    );
    expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(3);
  });

  it("answers twenty at once, and the next one, with the same bytes", async () => {
    const asked = accepting("br", request);
    const many = await Promise.all(Array.from({ length: 20 }, () => send(asked)));
    const answers = [...many, await send(asked)].map(essence);
    expect(answers).toEqual(Array.from({ length: 21 }, () => answers[0]));
  });

  it("sends errors without a tag, and uncoded unless the local edge codes JSON", async () => {
    const answer = await send(accepting("br, gzip", FORMS[form]("not a tag")));
    const body = decoded(answer);
    const text = form === "gRPC-Web text" ? Buffer.from(body.toString(), "base64") : body;
    expect(text.toString()).toMatch(/"code":"invalid_argument"|\r\ngrpc-status: 3\r\n/);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.headers.etag).toBeUndefined();
    const mayBeCoded = CONTENT_TYPES[form].startsWith("application/grpc-web") ? [] : ["br"];
    expect([undefined, ...mayBeCoded]).toContain(answer.headers["content-encoding"]);
  });
});
