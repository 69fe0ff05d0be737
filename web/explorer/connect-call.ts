import { toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { LocationsResponseSchema, LocationsService } from "../../gen/locations/v1/locations_pb.ts";
import { CatalogError } from "../../client/src/api.ts";
import { describeAnswer } from "../../client/src/read-answer.ts";
import type { CatalogCopy } from "../../client/src/refresh.ts";
import type { CallSettings } from "./permalink.ts";
import type { Send } from "./wire.ts";

/**
 * Calls by Connect's client; returns the answer in protobuf, whatever its encoding.
 *
 * @throws CatalogError with the code and the message of the service, or if no answer came.
 */
export async function callInProtocol(settings: CallSettings, send: Send): Promise<CatalogCopy> {
  let header = new Headers();
  const client = createClient(LocationsService, transportOf(settings, send));
  try {
    const answer = await client.getLocationsV1(
      { locale: settings.locale },
      { onHeader: (received) => (header = received) },
    );
    return { ...describeAnswer(header), bytes: toBinary(LocationsResponseSchema, answer) };
  } catch (cause) {
    const { code, rawMessage: message, metadata } = ConnectError.from(cause, Code.Unavailable);
    const seconds = Number(metadata.get("retry-after"));
    throw new CatalogError({
      code: Code[code].replaceAll(/\B[A-Z]/g, "_$&").toLowerCase(),
      message,
      retryAfterSeconds: seconds > 0 ? seconds : null,
    });
  }
}

function transportOf({ protocol, encoding }: CallSettings, send: Send) {
  const options = {
    baseUrl: window.location.origin,
    useBinaryFormat: encoding === "proto",
    useHttpGet: protocol === "connect-get",
    fetch: async (input: RequestInfo | URL, init: RequestInit = {}) => {
      const { body, ...head } = await send({
        url: new Request(input).url,
        method: init.method ?? "GET",
        headers: [...new Headers(init.headers)],
        body: init.body ?? null,
      });
      return new Response(body, head);
    },
  };
  return protocol === "grpc-web"
    ? createGrpcWebTransport(options)
    : createConnectTransport(options);
}
