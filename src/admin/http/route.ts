import type { z } from "zod";
import type { DeepReadonly } from "../../schemas/fields.ts";
import type { AuditAction } from "../../schemas/audit-actions.ts";
import type { Actor, AuditedChange, Problem } from "./http.ts";

export interface ResponseSpec {
  readonly description: string;
  readonly body?: z.ZodType;
  /** `application/json` if absent. */
  readonly mediaType?: string;
  /** Meanings of the headers that only some answers have. */
  readonly headers?: { readonly [name: string]: string };
}

/**
 * Describes a route. The same schemas validate its requests and make the OpenAPI document. A route
 * that changes something needs the scope `operate` and names its action in the audit.
 */
export type RouteSpec = {
  readonly method: "get" | "post" | "delete";
  /** In Hono's form, such as `/admin/ingest/runs/:id`. */
  readonly path: `/${string}`;
  /** The name of the method in a generated client, such as `cancelRun`. */
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** Values that do not match are answered 404. */
  readonly params?: z.ZodObject;
  /** Strict objects. Public routes ignore unknown parameters all the same. */
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly responses: { readonly [status: number]: ResponseSpec };
  /** The route's problems, by status, with their codes. */
  readonly problems?: { readonly [status: number]: string };
} & (
  | { readonly access: "public" | "read" }
  | {
      readonly access: "operate";
      readonly action: AuditAction;
      /** Whether it starts work and accepts a header Idempotency-Key. */
      readonly startsWork?: true;
    }
);

interface RouteInput<S extends RouteSpec> {
  readonly params: ValueOf<S["params"]>;
  readonly query: ValueOf<S["query"]>;
  readonly body: ValueOf<S["body"]>;
  readonly actor: S["access"] extends "public" ? undefined : Actor;
  readonly requestId: string;
  /** The same for every repetition of a request; null without a header Idempotency-Key. */
  readonly idempotencyKey: string | null;
  readonly headers: Headers;
  /** Content codings that the client accepts, best first. */
  readonly codings: readonly string[];
}

type ValueOf<Z> = Z extends z.ZodType ? DeepReadonly<z.output<Z>> : undefined;

interface AnswerParts {
  readonly headers?: { readonly [name: string]: string };
  readonly change?: AuditedChange;
}

export type Refusal = AnswerParts & { readonly problem: Problem };

/** A route's answer: one of the responses it describes, or a problem. */
type RouteAnswer<R extends RouteSpec["responses"]> =
  | Refusal
  | { [N in keyof R & number]: AnswerParts & { readonly status: N } & BodyOf<R[N]> }[keyof R &
      number];

/** A body as a value of its schema, or as the bytes to send. */
type BodyOf<R> = R extends { readonly body: infer B extends z.ZodType }
  ? { readonly body: DeepReadonly<z.output<B>> | ArrayBuffer }
  : { readonly body?: undefined };

export interface Route {
  readonly spec: RouteSpec;
  readonly handle: (
    input: object,
  ) => Promise<Refusal | (AnswerParts & { readonly status: number; readonly body?: unknown })>;
}

/** Describes a route; `answer` adds the handler, whose types follow from the description. */
export function route<const S extends RouteSpec>(spec: S) {
  return {
    answer(handle: (input: RouteInput<S>) => Promise<RouteAnswer<S["responses"]>>): Route {
      // The router passes on what the schemas of `spec` have parsed.
      return { spec, handle: handle as Route["handle"] };
    },
  };
}
