import type { z } from "zod";
import type { DeepReadonly } from "../../catalog/fields.ts";
import type { Actor } from "./http.ts";
import type { Problem } from "./problem.ts";

/** A success that a route may answer. */
interface ResponseSpec {
  readonly description: string;
  readonly body?: z.ZodType;
  /** `application/json` if absent; a `text/…` is sent as it is, in UTF-8. */
  readonly mediaType?: string;
}

interface CommonSpec {
  readonly method: "get" | "post" | "delete";
  /** In Hono's form, such as `/admin/ingest/runs/:id`. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string;
  /** Values that do not match are answered 404. */
  readonly params?: z.ZodObject;
  /** Strict objects: unknown parameters and fields are refused. */
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly responses: { readonly [status: number]: ResponseSpec };
  /** The route's own problems, by status, with their codes. */
  readonly problems?: { readonly [status: number]: string };
}

/**
 * Describes a route. The same schemas validate its requests and make the OpenAPI document. A route
 * that changes something needs the scope `operate` and names its action in the audit.
 */
export type RouteSpec = CommonSpec &
  (
    | { readonly access: "public" | "read" }
    | { readonly access: "operate"; readonly action: `${string}.${string}` }
  );

/** A request that matches its route's schemas. */
interface RouteInput<S extends RouteSpec> {
  readonly params: Parsed<S["params"]>;
  readonly query: Parsed<S["query"]>;
  readonly body: Parsed<S["body"]>;
  readonly actor: S["access"] extends "public" ? undefined : Actor;
  readonly requestId: string;
  readonly headers: Headers;
}

type Parsed<Z> = Z extends z.ZodType ? DeepReadonly<z.output<Z>> : undefined;

/** What the audit records of a change. */
interface Change {
  /** The id or generation that was acted on. */
  readonly target?: string;
  /** The state before and after, as JSON. */
  readonly before?: unknown;
  readonly after?: unknown;
}

interface AnswerParts {
  readonly headers?: { readonly [name: string]: string };
  readonly change?: Change;
}

/** A route's answer that is no success. */
export type Refusal = AnswerParts & { readonly problem: Problem };

/** A route's answer: one of the responses it describes, or a problem. */
type Answer<S extends RouteSpec> = Refusal | Success<S["responses"], keyof S["responses"] & number>;

type Success<R, Status extends keyof R> = {
  readonly [N in Status]: AnswerParts & { readonly status: N } & BodyOf<R[N]>;
}[Status];

/** A body as a value of its schema, or as the bytes to send. */
type BodyOf<R> = R extends { readonly body: infer B extends z.ZodType }
  ? { readonly body: DeepReadonly<z.output<B>> | ArrayBuffer }
  : { readonly body?: undefined };

/** Any route's answer, as the router sends it. */
export type AnyAnswer =
  Refusal | (AnswerParts & { readonly status: number; readonly body?: unknown });

export function statusOf(answer: AnyAnswer): number {
  return "problem" in answer ? answer.problem.status : answer.status;
}

/** A route with its handler, as the router sees it. */
export interface Route<S extends RouteSpec = RouteSpec> {
  readonly spec: S;
  readonly handle: (input: object) => Promise<AnyAnswer>;
}

/** Describes a route; `answer` adds the handler, whose types follow from the description. */
export function route<const S extends RouteSpec>(spec: S) {
  return {
    answer(handle: (input: RouteInput<S>) => Promise<Answer<S>>): Route<S> {
      // The router passes on what the schemas of `spec` have parsed.
      return { spec, handle: handle as Route["handle"] };
    },
  };
}
