/**
 * `wrangler dev` imitates an edge that codes JSON anew where it would itself choose another coding
 * than the Worker. Clients here accept one coding, so that it does not.
 */
import { describe, expect, it } from "vitest";
import { send, type Sent } from "./http.ts";
import { CONTENT_TYPES, decoded, type Form, FORMS } from "./wire.ts";

const forms = Object.keys(FORMS) as Form[]; // keys of FORMS

function accepting(accepted: string, { headers, ...sent }: Sent): Sent {
  return { headers: { ...headers, "accept-encoding": accepted }, ...sent };
}

describe.each(forms)("an answer over %s", (form) => {
  const request = FORMS[form]("ar");

  it.each(["identity", "gzip", "br"])(
    "comes in %s under an entity tag of its own",
    async (coding) => {
      const plain = await send(request);
      const answer = await send(accepting(coding, request));
      const { headers, body } = answer;
      expect(headers.vary).toMatch(/^Accept-Encoding(?:, Available-Dictionary)?$/);
      expect(headers["content-type"]).toBe(CONTENT_TYPES[form]);
      expect(headers["content-encoding"] ?? "identity").toBe(coding);
      expect(headers["content-length"]).toBe(String(body.length));
      expect(headers["transfer-encoding"]).toBeUndefined();
      expect(decoded(answer).equals(plain.body)).toBe(true);
      expect(headers.etag === plain.headers.etag).toBe(coding === "identity");
    },
  );

  it("has no tag when it is an error, and no coding except that of the local edge", async () => {
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
