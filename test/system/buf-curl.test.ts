import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fromJsonString } from "@bufbuild/protobuf";
import { describe, expect, inject, it } from "vitest";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { brokenRules } from "./catalog-rules.ts";

const { url } = inject("service");

interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

async function bufCurl(protocol: string, request: object): Promise<Ended> {
  const call = `${url}/locations.v1.LocationsService/GetLocationsV1`;
  const data = JSON.stringify(request);
  const args = ["curl", "--schema", "proto", "--protocol", protocol, "--data", data, call];
  const child = spawn("node_modules/.bin/buf", args, { stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { code, stdout, stderr };
}

describe.each(["connect", "grpcweb"])("buf curl --protocol %s", (protocol) => {
  it("prints the whole catalog", async () => {
    const { code, stdout, stderr } = await bufCurl(protocol, { locale: "ar" });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(brokenRules(fromJsonString(LocationsResponseSchema, stdout), "ar")).toEqual([]);
  });

  it("exits with eight times the code of the error", async () => {
    const { code, stdout, stderr } = await bufCurl(protocol, { locale: "not a tag" });
    expect({ code, stdout }).toEqual({ code: 8 * 3, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("use a tag such as"),
      details: [{ type: "google.rpc.BadRequest" }],
    });
  });
});
