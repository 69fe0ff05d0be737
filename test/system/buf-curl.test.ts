import { fromJsonString } from "@bufbuild/protobuf";
import { describe, expect, inject, it } from "vitest";
import { LocationsResponseSchema } from "../../gen/locations/v1/locations_pb.ts";
import { brokenRules } from "./catalog-rules.ts";
import { runCommand } from "./run-command.ts";

const { url } = inject("service");

function bufCurl(protocol: string, request: object) {
  const call = `${url}/locations.v1.LocationsService/GetLocationsV1`;
  const data = JSON.stringify(request);
  const args = ["--schema", "proto", "--protocol", protocol, "--data", data, call];
  return runCommand("buf", "curl", ...args);
}

describe.each(["connect", "grpcweb"])("buf curl --protocol %s", (protocol) => {
  it("prints the whole catalog", async () => {
    const { code, stdout, stderr } = await bufCurl(protocol, { locale: "ar" });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(brokenRules(fromJsonString(LocationsResponseSchema, stdout), "ar")).toEqual([]);
  });

  it("exits with eight times the error's code", async () => {
    const { code, stdout, stderr } = await bufCurl(protocol, { locale: "not a tag" });
    expect({ code, stdout }).toEqual({ code: 8 * 3, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("use a tag such as"),
      details: [{ type: "google.rpc.BadRequest" }],
    });
  });
});
