import type { z } from "zod";
import type { Scope } from "../auth/credentials.ts";
import type { Actor } from "./http.ts";
import type { Problem } from "./problem.ts";

/** A success that a route may answer. */
export interface ResponseSpec {
  readonly description: string;
  /** Absent if there is no body. */
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
  /** Values that do not match are answered 404, or 400 where `invalidParams` says so. */
  readonly params?: z.ZodObject;
  readonly invalidParams?: 400;
  /** A strict object of texts: parameters that it does not name are refused. */
  readonly query?: z.ZodObject;
  /** A strict object: fields that it does not name are refused. */
  readonly body?: z.ZodObject;
  /** By status. */
  readonly responses: { readonly [status: number]: ResponseSpec };
  /** Problems of this route's own, by status, with their codes. */
  readonly problems?: { readonly [status: number]: string };
}

/**
 * Describes a route: what validates its requests is what the OpenAPI document says of it. Whatever
 * changes something needs the scope `operate` and names its action in the audit.
 */
export type RouteSpec = CommonSpec &
  (
    | { readonly access: "public" | "read" }
    | { readonly access: "operate"; readonly action: `${string}.${string}` }
  );

/** A request that was found in order. */
export interface RouteInput<S extends RouteSpec> {
  readonly params: Parsed<S["params"]>;
  readonly query: Parsed<S["query"]>;
  readonly body: Parsed<S["body"]>;
  readonly actor: S["access"] extends Scope ? Actor : undefined;
  readonly requestId: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

type Parsed<Z> = Z extends z.ZodType ? Immutable<z.output<Z>> : undefined;

/** What a change came to, for the audit. */
export interface Change {
  /** The id or generation that was acted on. */
  readonly target?: string;
  /** What was so before and after, as JSON. */
  readonly before?: unknown;
  readonly after?: unknown;
}

interface AnswerParts {
  readonly headers?: { readonly [name: string]: string };
  readonly change?: Change;
}

/** A route's answer that is no success. */
export interface Refusal extends AnswerParts {
  readonly problem: Problem;
}

/** A route's answer: one of the responses it describes, or a problem. */
export type Answer<S extends RouteSpec> =
  Refusal | Success<S["responses"], keyof S["responses"] & number>;

type Success<R, Status extends keyof R> = {
  readonly [N in Status]: AnswerParts & { readonly status: N } & BodyOf<R[N]>;
}[Status];

type BodyOf<R> = R extends { readonly body: infer B extends z.ZodType }
  ? { readonly body: Immutable<z.output<B>> }
  : { readonly body?: undefined };

/** A value that is only read. */
export type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T;

/** A route with its handler, as the router sees it. */
export interface Route<S extends RouteSpec = RouteSpec> {
  readonly spec: S;
  readonly handle: (input: AnyInput) => Promise<AnyAnswer>;
}

/** Any route's input, before its types are known. */
export interface AnyInput {
  readonly params: { readonly [name: string]: string };
  readonly query: unknown;
  readonly body: unknown;
  readonly actor: Actor | undefined;
  readonly requestId: string;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

export type AnyAnswer =
  | Refusal
  | (AnswerParts & {
      readonly status: number;
      readonly body?: unknown;
    });

/** Describes a route; `answer` then says what answers by that description. */
export function route<const S extends RouteSpec>(spec: S) {
  return {
    answer(handle: (input: RouteInput<S>) => Promise<Answer<S>>): Route<S> {
      // The router calls it with nothing but what the schemas of `spec` have parsed.
      return { spec, handle: handle as unknown as Route["handle"] };
    },
  };
}
