import type { Hono } from "hono";
import type { ClientErrorStatusCode, ServerErrorStatusCode } from "hono/utils/http-status";
import type { z } from "zod";
import type { AdminRoutes } from "./app.ts";
import type { Http } from "./http/http.ts";
import type { problemSchema } from "./http/problem.ts";
import type { Route, RouteSpec } from "./http/route.ts";

/** The routes as Hono's client sees them: `hc<AdminApi>(url)` is a typed client of all of them. */
export type AdminApi = Hono<Http, Paths<SpecOf<AdminRoutes>>>;

type SpecOf<R> = R extends Route<infer S> ? S : never;

type Paths<S extends RouteSpec> = {
  [P in S["path"]]: {
    [M in Extract<S, { path: P }> as `$${M["method"]}`]:
      | Endpoint<M, z.output<typeof problemSchema>, ClientErrorStatusCode | ServerErrorStatusCode>
      | Successes<M, keyof M["responses"] & number>;
  };
};

type Successes<S extends RouteSpec, Status extends number> = {
  [N in Status]: Endpoint<S, OutputOf<S["responses"][N]>, N>;
}[Status];

type Endpoint<S extends RouteSpec, Output, Status extends number> = {
  input: Part<"param", S["params"]> & Part<"query", S["query"]> & Part<"json", S["body"]>;
  output: Output;
  outputFormat: "json";
  status: Status;
};

/** What a caller sends: the schema's input, whose parts with defaults may be left out. */
type Part<Name extends string, Z> = Z extends z.ZodType ? { [K in Name]: z.input<Z> } : object;

type OutputOf<R> = R extends { readonly body: infer B extends z.ZodType } ? z.output<B> : null;
