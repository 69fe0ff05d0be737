/** The service as one would start to write it: Connect's router, with nothing behind it. */
import { createConnectRouter } from "@connectrpc/connect";
import {
  universalServerRequestFromFetch,
  universalServerResponseToFetch,
} from "@connectrpc/connect/protocol";
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import { LocationsService } from "../gen/locations/v1/locations_pb.ts";

export class AlertMonitor extends DurableObject {}
export class IngestCoordinator extends DurableObject {}
export class PartCompressor extends WorkerEntrypoint {}

const [handler] = createConnectRouter({ grpc: false }).service(LocationsService, {
  getLocationsV1: () => ({}),
}).handlers;

export default {
  async fetch(request: Request) {
    if (handler === undefined) throw new Error("the service has no method");
    return universalServerResponseToFetch(
      await handler(universalServerRequestFromFetch(request, {})),
    );
  },
};
