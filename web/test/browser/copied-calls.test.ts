import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, describe, expect, it } from "vitest";
import manifest from "../../../data/snapshot/manifest.json" with { type: "json" };
import { LocationsResponseSchema } from "../../../gen/locations/v1/locations_pb.ts";
import { openPage, useBrowser } from "./browser.ts";
import { waitForAnswer } from "./explorer-page.ts";

useBrowser();

const folder = mkdtempSync(join(tmpdir(), "locations-copied-"));
afterAll(() => rmSync(folder, { recursive: true }));

const MAX_BYTES = 64 * 1024 * 1024;

/** The call as the page puts it on the clipboard. */
async function copyCall(query: string, kind: "curl" | "buf" | "TypeScript"): Promise<string> {
  const page = await openPage(`/?locale=de&${query}`, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await waitForAnswer(page, "de");
  await page.getByText("Copy this call").click();
  await page.getByRole("radio", { name: kind, exact: true }).check();
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  return page.evaluate<string>("navigator.clipboard.readText()");
}

/** Runs a command as a stranger does, in a folder that has nothing of this project. */
function runInShell(command: string): string {
  const env = { ...process.env };
  for (const name of Object.keys(env)) if (/^npm_/i.test(name)) delete env[name];
  // A person is asked.
  env["npm_config_yes"] = "true";
  return execFileSync("sh", ["-c", command], {
    cwd: folder,
    env,
    encoding: "utf8",
    maxBuffer: MAX_BYTES,
    stdio: "pipe",
  });
}

/** The message in the first frame of what curl has written. */
function firstMessage(): Uint8Array {
  const framed = readFileSync(join(folder, "locations.bin"));
  return framed.subarray(5, 5 + framed.readUInt32BE(1));
}

function germanName(bytes: Uint8Array): string | undefined {
  const { regions } = fromBinary(LocationsResponseSchema, bytes);
  return regions.find(({ slug }) => slug === "caribbean")?.nameLocalized;
}

describe("a copied call", () => {
  it.each(["connect", "connect-get"])("works in curl, over %s", async (protocol) => {
    runInShell(await copyCall(`protocol=${protocol}`, "curl"));
    expect(germanName(readFileSync(join(folder, "locations.bin")))).toBe("Karibik");
    const json = runInShell(await copyCall(`protocol=${protocol}&encoding=json`, "curl"));
    expect(json).toContain('"nameLocalized":"Karibik"');
  });

  it("works in curl, over gRPC-Web", async () => {
    runInShell(await copyCall("protocol=grpc-web", "curl"));
    expect(germanName(firstMessage())).toBe("Karibik");
    runInShell(await copyCall("protocol=grpc-web&encoding=json", "curl"));
    expect(Buffer.from(firstMessage()).toString()).toContain('"nameLocalized":"Karibik"');
  });

  it.each(["connect", "grpc-web"])("works in buf, over %s", async (protocol) => {
    const call = await copyCall(`protocol=${protocol}`, "buf");
    expect(runInShell(call)).toContain('"nameLocalized": "Karibik"');
  });

  it.each(["connect", "connect-get", "grpc-web"])(
    "works in TypeScript, over %s",
    async (protocol) => {
      const call = await copyCall(`protocol=${protocol}`, "TypeScript");
      const [, install = ""] = /^\/\/ (npm install .*)$/m.exec(call) ?? [];
      runInShell(install);
      const show = `console.log(regions.find(({ slug }) => slug === "caribbean")?.nameLocalized, airports.length, cities.length, countries.length);`;
      writeFileSync(join(folder, "call.ts"), `${call}\n${show}\n`);
      const { airports, cities, countries } = manifest.counts;
      const output = runInShell(`'${process.execPath}' --no-warnings call.ts`);
      expect(output).toBe(`Karibik ${airports} ${cities} ${countries}\n`);
    },
  );
});
