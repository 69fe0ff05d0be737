import { exports } from "cloudflare:workers";
import { OPERATOR_TOKEN } from "../builders/admin-tokens.ts";
import { checkAnswer, OPENAPI } from "../builders/openapi-check.ts";

/**
 * Asks the Worker under test for `path` with its query, and checks the answer against the OpenAPI
 * document. `ask` may send it to the Worker with other settings instead.
 */
export async function checkedFetch(
  path: string,
  init: RequestInit = {},
  ask: (url: string) => Promise<Response> = (url) => exports.default.fetch(url, init),
): Promise<Response> {
  const { href, pathname } = new URL(path, "https://locations.test");
  const answer = await ask(href);
  const request = { method: init.method ?? "GET", path: pathname };
  await checkAnswer(OPENAPI, request, answer);
  return answer;
}

/** Asks the Worker as an operator does, with a body of JSON or none. */
export function admin(method: string, path: string, body?: object): Promise<Response> {
  return checkedFetch(path, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      authorization: `Bearer ${OPERATOR_TOKEN}`,
    },
  });
}
