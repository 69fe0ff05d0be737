/** Small applications with the package that the service hands out, each in a folder of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, inject, it } from "vitest";
import { freePort } from "../system/running-service.ts";
import { type BrowserName, openBrowser } from "./browsers.ts";

/** Where an application lives. */
export interface App {
  readonly folder: string;
  /** Address of the running service. */
  readonly service: string;
}

/** A place that the package's README names, and a small application that enters it. */
export interface Place {
  /** With its exact version and how it is used. */
  readonly name: string;
  /** Exact versions of what the application needs beside the package. */
  readonly packages: { readonly [name: string]: string };
  readonly files: { readonly [path: string]: string };
  /** What the application has found of `münchen` in German, or what else it shows. */
  readonly enter: (app: App) => Promise<string>;
  /** If it is not `FOUND`. */
  readonly shows?: RegExp;
}

const FOUND = /^München \| Bayern, Deutschland$/;

const PROTOBUF = { "@bufbuild/protobuf": "2.17.0" };

/** So long may an application take to show something. */
const SHOWN_MS = 120_000;

export function testPlaces(places: readonly Place[]): void {
  it.each(places)(
    "the package works in $name",
    async ({ packages, files, enter, shows = FOUND }) => {
      const folder = await install({ ...PROTOBUF, ...packages });
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), content);
      }
      const shown = await enter({ folder, service: inject("service").url });
      expect(shown).toMatch(shows);
    },
  );
}

/** Makes a folder with these packages, which later runs find again, and with the service's package. */
async function install(packages: Place["packages"]): Promise<string> {
  const name = createHash("sha256").update(JSON.stringify(packages)).digest("hex").slice(0, 16);
  const folder = join(tmpdir(), "locations-places", name);
  const done = join(folder, "node_modules", ".installed");
  if (!existsSync(done)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ private: true, type: "module", dependencies: packages }),
    );
    await run(folder, "npm", "install", "--no-audit", "--no-fund");
    writeFileSync(done, "");
  }
  for (const entry of readdirSync(folder))
    if (!["node_modules", "package.json", "package-lock.json"].includes(entry))
      rmSync(join(folder, entry), { recursive: true });
  for (const cache of [".vite", ".cache"])
    rmSync(join(folder, "node_modules", cache), { recursive: true, force: true });
  const client = join(folder, "node_modules", "locations-at-the-edge-client");
  rmSync(client, { recursive: true, force: true });
  mkdirSync(client);
  const archive = `${inject("service").url}/client.tgz`;
  const unpack = `curl --silent --fail '${archive}' | tar -xzf - -C '${client}' --strip-components=1`;
  await run(folder, "sh", "-c", unpack);
  return folder;
}

/** Runs a command in a folder; returns the last line that it prints. */
export async function run(folder: string, command: string, ...args: string[]): Promise<string> {
  const { child, output } = start(folder, command, args);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} ${args.join(" ")}: ${output()}`);
  return output().trim().split("\n").at(-1) ?? "";
}

function start(folder: string, command: string, args: readonly string[]) {
  const bin = join(folder, "node_modules", ".bin");
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, PATH: `${bin}:${process.env["PATH"] ?? ""}`, ...QUIET },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let written = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => (written += String(chunk)));
  return { child, output: () => written };
}

/** No test's own settings, and no telemetry. */
const QUIET = { VITEST: "", NEXT_TELEMETRY_DISABLED: "1", CI: "1", NO_COLOR: "1" };

/** Runs a server of the application until the work is done. `{port}` in an argument is its port. */
export async function whileServing<T>(
  folder: string,
  [command = "", ...args]: readonly string[],
  work: (origin: string) => Promise<T>,
): Promise<T> {
  const port = String(await freePort());
  const { child, output } = start(
    folder,
    command,
    args.map((arg) => arg.replace("{port}", port)),
  );
  const origin = `http://127.0.0.1:${port}`;
  try {
    await answering(origin, child).catch(() => {
      throw new Error(`${command} serves nothing: ${output()}`);
    });
    return await work(origin);
  } catch (cause) {
    throw new Error(`${String(cause)}\n${output().slice(-4000)}`, { cause });
  } finally {
    // With what it has started.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
  }
}

async function answering(origin: string, child: ChildProcess): Promise<void> {
  const until = performance.now() + SHOWN_MS;
  while (performance.now() < until && child.exitCode === null) {
    const answer = await fetch(origin).catch(() => undefined);
    if (answer !== undefined) return;
    await delay(200);
  }
  throw new Error("no answer");
}

const TYPES: { readonly [ending: string]: string } = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
};

/** Serves the files of a folder until the work is done. */
export async function whileServingFiles<T>(
  folder: string,
  work: (origin: string) => Promise<T>,
): Promise<T> {
  const server = createServer(({ url = "/" }, response) => {
    const { pathname } = new URL(url, "http://localhost");
    const path = join(folder, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
    if (!existsSync(path)) return void response.writeHead(404).end();
    const type = TYPES[extname(path)] ?? "text/plain";
    // As a CDN does.
    response.writeHead(200, { "content-type": type, "access-control-allow-origin": "*" });
    response.end(readFileSync(path));
  });
  const port = await freePort();
  await once(server.listen(port, "127.0.0.1"), "listening");
  try {
    return await work(`http://127.0.0.1:${port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** What a page of an application shows. */
export async function shownBy(
  origin: string,
  { service }: App,
  browser: BrowserName = "Chromium",
): Promise<string> {
  return shownAt(`${origin}/?service=${service}`, "document.body.dataset.found", browser);
}

/** The value of an expression in a page, once it has one. */
export async function shownAt(
  url: string,
  expression: string,
  browser: BrowserName = "Chromium",
): Promise<string> {
  const { goto, evaluate, close } = await openBrowser(browser);
  try {
    await goto(url);
    const until = performance.now() + SHOWN_MS;
    for (let shown: unknown; performance.now() < until; await delay(100)) {
      shown = await evaluate(expression);
      if (typeof shown === "string" && shown !== "") return shown;
    }
    throw new Error(`nothing is shown: ${String(await evaluate("document.body.innerHTML"))}`);
  } finally {
    await close();
  }
}
