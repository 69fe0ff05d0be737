import { exports } from "cloudflare:workers";
import { AdminWorld } from "../builders/admin-world.ts";
import { checkAnswer } from "../builders/openapi-check.ts";

const described = new AdminWorld();

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
  await checkAnswer(await described.document(), request, answer);
  return answer;
}
