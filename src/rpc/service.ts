import { fromBinary } from "@bufbuild/protobuf";
import {
  ConnectError,
  type ContextKey,
  createContextKey,
  type HandlerContext,
  type ServiceImpl,
} from "@connectrpc/connect";
import {
  type LocationsRequest,
  LocationsResponseSchema,
  type LocationsService,
} from "../../gen/locations/v1/locations_pb.ts";
import { parseLocale } from "../catalog/locale.ts";
import type { Caller } from "../storage/catalog-reader.ts";
import { abortable } from "../storage/deadline.ts";
import { catalogFailure, internalError, malformedLocale } from "./errors.ts";
import {
  type CatalogSource,
  type Found,
  lookUp,
  type LookUpResult,
  type Query,
} from "./look-up.ts";

/**
 * What the wrapper and the implementation tell each other about one call. With `wanted` the
 * implementation answers an empty message, in whose place the wrapper sends `found`.
 */
export interface Call {
  /** The stored representation to look for; undefined if none is of use. */
  readonly wanted: Omit<Query, "tag"> | undefined;
  /** An outcome that is known already, so that failing stores are not asked twice. */
  readonly known?: LookUpResult | undefined;
  /** Left by the implementation when it succeeds. */
  success?: { readonly tag: string; readonly found: Found };
}

/** Carries the call through the router. Without it the implementation answers by itself. */
export const callKey: ContextKey<Call | undefined> = createContextKey<Call | undefined>(undefined);

/** Tells the log of a bug: the one place where its cause can be read. */
export type LogInternalError = (message: string, cause: unknown) => void;

/** What the router itself can encode: the message, from its stored binary form. */
const DECODABLE: Omit<Query, "tag"> = {
  representation: "proto",
  codings: ["identity"],
  ifNoneMatch: null,
  withBody: true,
};

/** The implementation of LocationsService. */
export function createLocationsService(
  source: CatalogSource,
  log: LogInternalError,
): ServiceImpl<typeof LocationsService> {
  async function find(request: LocationsRequest, context: HandlerContext): Promise<Found> {
    const call = context.values.get(callKey);
    const locale = parseLocale(request.locale);
    if (!locale.ok) throw malformedLocale(locale.reason);
    const query = { tag: locale.tag, ...(call?.wanted ?? DECODABLE) };
    const result = call?.known ?? (await lookUpInTime(source, query, context));
    if (!result.ok) throw catalogFailure(result.reason);
    if (call !== undefined) call.success = { tag: locale.tag, found: result.found };
    return result.found;
  }

  return {
    async getLocationsV1(request, context) {
      try {
        const found = await find(request, context);
        if (context.values.get(callKey)?.wanted !== undefined) return {};
        if (found.kind !== "body" || found.variant.coding !== "identity") {
          throw new Error(`cannot decode ${found.kind} in ${found.variant.coding}`);
        }
        return fromBinary(
          LocationsResponseSchema,
          new Uint8Array(await found.content.arrayBuffer()),
        );
      } catch (cause) {
        if (cause instanceof ConnectError) throw cause;
        // The caller has gone or its time is over; whatever failed, failed because of that.
        if (context.signal.aborted) throw ConnectError.from(context.signal.reason);
        log("GetLocationsV1 failed", cause);
        throw internalError(cause);
      }
    },
  };
}

/** Rejects as soon as the call's deadline has passed; what storage yields later is dropped. */
async function lookUpInTime(
  source: CatalogSource,
  query: Query,
  caller: Caller,
): Promise<LookUpResult> {
  caller.signal.throwIfAborted();
  return abortable(caller.signal, lookUp(source, query, caller));
}
