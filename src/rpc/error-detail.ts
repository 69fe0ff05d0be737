import { create, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { DurationSchema } from "@bufbuild/protobuf/wkt";

/** An encoded message of google/rpc/error_details.proto, with its ProtoJSON form for people. */
interface ErrorDetail {
  readonly type: string;
  readonly value: Uint8Array;
  readonly debug: JsonValue;
}

/** Builds a google.rpc.BadRequest with one violation. */
export function badRequest(field: string, description: string): ErrorDetail {
  const violation = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(field)
    .tag(2, WireType.LengthDelimited)
    .string(description)
    .finish();
  return {
    type: "google.rpc.BadRequest",
    value: new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(violation).finish(),
    debug: { fieldViolations: [{ field, description }] },
  };
}

/** Builds a google.rpc.RetryInfo, which says when a client may try again. */
export function retryInfo(delaySeconds: number): ErrorDetail {
  const delay = toBinary(DurationSchema, create(DurationSchema, { seconds: BigInt(delaySeconds) }));
  return {
    type: "google.rpc.RetryInfo",
    value: new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(delay).finish(),
    debug: { retryDelay: `${delaySeconds}s` },
  };
}
