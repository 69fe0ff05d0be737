import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import manifest from "../../../data/snapshot/manifest.json" with { type: "json" };
import { LocationsResponseSchema } from "../../../gen/locations/v1/locations_pb.ts";
import { openPage, useBrowser } from "./browser.ts";
import { openCall, waitForAnswer } from "./explorer-page.ts";

useBrowser();

const folder = mkdtempSync(join(tmpdir(), "locations-copied-"));
afterAll(() => rmSync(folder, { recursive: true }));

const MAX_BYTES = 64 * 1024 * 1024;

const PROTOCOLS = ["Connect", "Connect GET", "gRPC-Web"] as const;
const KINDS = ["curl", "buf", "TypeScript"] as const;

/** The calls as the page puts them on the clipboard, by kind, protocol and encoding. */
const calls = new Map<string, string>();
beforeAll(async () => {
  const page = await openPage("/?locale=de", {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await waitForAnswer(page, "de");
  await openCall(page);
  await page.getByText("Copy this call").click();
  const choose = (name: string) => page.getByRole("radio", { name, exact: true }).check();
  const controls = page.locator(".copy-call");
  for (const protocol of PROTOCOLS)
    for (const encoding of ["Protobuf", "JSON"])
      for (const kind of KINDS) {
        await choose(protocol);
        await choose(encoding);
        await choose(kind);
        await controls.locator(".copy-call-controls button").click();
        // Later it may have said so since the copy before, and no longer.
        if (calls.size === 0) await controls.getByRole("button", { name: "Copied" }).waitFor();
        const shown = (await controls.locator("pre").textContent()) ?? "";
        const isCopied = async () =>
          (await page.evaluate("navigator.clipboard.readText()")) === shown;
        await vi.waitUntil(isCopied, { timeout: 60_000 });
        calls.set(`${kind} ${protocol} ${encoding}`, shown);
      }
});

function copiedCall(kind: string, protocol: string, encoding = "Protobuf"): string {
  const call = calls.get(`${kind} ${protocol} ${encoding}`);
  if (call === undefined) throw new Error("no such call was copied");
  return call;
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
  it("is the same in a page that a link opens with these choices", async () => {
    const page = await openPage("/?locale=de&protocol=grpc-web&encoding=json");
    await openCall(page);
    await page.getByText("Copy this call").click();
    const shown = await page.locator(".copy-call pre").textContent();
    expect(shown).toBe(copiedCall("curl", "gRPC-Web", "JSON"));
  });

  it.each(["Connect", "Connect GET"])("works in curl, over %s", (protocol) => {
    runInShell(copiedCall("curl", protocol));
    expect(germanName(readFileSync(join(folder, "locations.bin")))).toBe("Karibik");
    const json = runInShell(copiedCall("curl", protocol, "JSON"));
    expect(json).toContain('"nameLocalized":"Karibik"');
  });

  it("works in curl, over gRPC-Web", () => {
    runInShell(copiedCall("curl", "gRPC-Web"));
    expect(germanName(firstMessage())).toBe("Karibik");
    runInShell(copiedCall("curl", "gRPC-Web", "JSON"));
    expect(Buffer.from(firstMessage()).toString()).toContain('"nameLocalized":"Karibik"');
  });

  it.each(["Connect", "gRPC-Web"])("works in buf, over %s", (protocol) => {
    expect(runInShell(copiedCall("buf", protocol))).toContain('"nameLocalized": "Karibik"');
  });

  it.each(PROTOCOLS)("works in TypeScript, over %s", (protocol) => {
    const call = copiedCall("TypeScript", protocol);
    const [, install = ""] = /^\/\/ (npm install .*)$/m.exec(call) ?? [];
    runInShell(install);
    const show = `console.log(regions.find(({ slug }) => slug === "caribbean")?.nameLocalized, airports.length, cities.length, countries.length);`;
    writeFileSync(join(folder, "call.ts"), `${call}\n${show}\n`);
    const { airports, cities, countries } = manifest.counts;
    const output = runInShell(`'${process.execPath}' --no-warnings call.ts`);
    expect(output).toBe(`Karibik ${airports} ${cities} ${countries}\n`);
  });
});
