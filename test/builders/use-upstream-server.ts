import { afterAll, beforeAll, beforeEach } from "vitest";
import { UpstreamServer } from "./upstream-server.ts";

/** A server for all tests of the file, each of which starts without requests. */
export function useUpstreamServer(): UpstreamServer {
  const server = new UpstreamServer();
  beforeAll(() => server.listen());
  beforeEach(() => void server.requests.splice(0));
  afterAll(() => server.stop());
  return server;
}
