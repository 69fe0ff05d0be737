/** Answers to everybody, against the OpenAPI document. */
import { expect, inject, it } from "vitest";
import { checkAnswer, OPENAPI } from "../builders/openapi-check.ts";
import { CALL } from "./http.ts";

const { url } = inject("service");
const json = { "content-type": "application/json" };
const post = (body: string, headers: object = {}) => ({
  method: "POST",
  body,
  headers: { ...json, ...headers },
});
const query = (message: string) =>
  `${CALL}?connect=v1&encoding=json&message=${encodeURIComponent(message)}`;
const NO_HASH = "0".repeat(64);

it.each<[number, string, RequestInit]>([
  [200, CALL, post('{"locale":"ar"}')],
  [200, CALL, post("{}")],
  [400, CALL, post("{")],
  [404, `${CALL}?v=${NO_HASH}`, post("{}")],
  [415, CALL, { method: "POST", body: "{}", headers: { "content-type": "text/json" } }],
  [429, CALL, post(" ".repeat(5_000))],
  [501, CALL, post("{}", { "content-encoding": "br" })],
  [504, CALL, post("{}", { "connect-timeout-ms": "0" })],
  [200, query('{"locale":"ja"}'), {}],
  [304, query("{}"), { headers: { "if-none-match": "*" } }],
  [400, query('{"locale":"?"}'), {}],
  [404, `${query("{}")}&v=${NO_HASH}`, {}],
  [412, query("{}"), { headers: { "if-match": '"x"' } }],
  [415, CALL, {}],
  [504, query("{}"), { headers: { "connect-timeout-ms": "0" } }],
  [200, "/search/v1/ranks.json", {}],
  [200, "/search/v1/names.json", {}],
  [200, "/search/v1/served.json", {}],
  [200, "/search/v1/cities/zh-Hant.json", {}],
  [200, "/catalog/health", {}],
  [200, "/credits", {}],
])("%i of %s is as described", async (status, path, init) => {
  const answer = await fetch(`${url}${path}`, init);
  expect(answer.status).toBe(status);
  await checkAnswer(OPENAPI, { method: init.method ?? "GET", path }, answer);
});
