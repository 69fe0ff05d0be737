/** The address of a call, as a person opens it in a browser. */
import { describe, expect, inject, it } from "vitest";
import { CALL, send } from "./http.ts";

const { url } = inject("service");
const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

describe.each([
  ["the method", CALL, 415, "This is the address of a call."],
  ["a method that is none", CALL.replace("V1", "V9"), 404, "There is no such call."],
])("the address of %s", (_, path, status, prefix) => {
  it("shows a browser the two requests, of which each is answered", async () => {
    const answer = await send({ method: "GET", path, headers: BROWSER });
    expect(answer.status).toBe(status);
    expect(answer.headers["content-type"]).toBe("text/plain; charset=utf-8");
    const text = answer.body.toString();
    expect(text.startsWith(prefix)).toBe(true);
    const [post = "", get = "", docs = ""] = text.match(/http:\S+/g) ?? [];
    const body = /\{.*\}/.exec(text)?.[0] ?? "";
    const type = /application\/\w+/.exec(text)?.[0] ?? "";
    const posted = await fetch(post, { method: "POST", body, headers: { "content-type": type } });
    const [asked, page] = [await fetch(get), await fetch(docs)];
    expect([posted.status, asked.status, page.status]).toEqual([200, 200, 200]);
    expect(await asked.text()).toBe(await posted.text());
  });

  it("answers programs without a body", async () => {
    for (const method of ["GET", "HEAD"]) {
      const answer = await send({ method, path, headers: { accept: "*/*" } });
      expect({ status: answer.status, bytes: answer.body.byteLength }).toEqual({
        status,
        bytes: 0,
      });
    }
  });
});

it("a call that a browser shows is answered as any other", async () => {
  const wrong = `${url}${CALL}?connect=v1&encoding=json&message=%7B`;
  const answer = await fetch(wrong, { headers: BROWSER });
  expect(await answer.json()).toMatchObject({ code: "invalid_argument" });
});
