import { describe, expect, it } from "vitest";
import { bodyDeadlineMs } from "../../../src/rpc/body-deadline.ts";
import { readHead } from "../../../src/rpc/request-head.ts";

const deadlineOf = (headers: { readonly [name: string]: string }) =>
  bodyDeadlineMs(readHead(new Request("http://localhost/", { method: "POST", headers })));

describe("how long a request's body may take to arrive", () => {
  it.each(["application/grpc-web", "application/grpc-web+proto", "Application/GRPC-Web-Text"])(
    "is what grpc-timeout says for %s, in whatever case it is written",
    (type) => {
      const headers = { "content-type": type, "connect-timeout-ms": "7" };
      expect(deadlineOf({ ...headers, "grpc-timeout": "250m" })).toBe(250);
    },
  );

  it("is what connect-timeout-ms says for every other", () => {
    const headers = { "content-type": "application/proto", "grpc-timeout": "1m" };
    expect(deadlineOf({ ...headers, "connect-timeout-ms": "250" })).toBe(250);
  });

  it("is ten seconds at most, also where the timeout is malformed or none is set", () => {
    for (const timeout of ["60000", "soon", ""])
      expect(deadlineOf({ "connect-timeout-ms": timeout })).toBe(10_000);
    expect(deadlineOf({})).toBe(10_000);
  });
});
