import { spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, describe, expect, inject, it } from "vitest";
import manifest from "../../data/snapshot/manifest.json" with { type: "json" };
import { digest } from "../builders/admin-tokens.ts";
import { CALL } from "./http.ts";
import { processes, SERVING, Start, survivors, TOKEN_FILE } from "./npm-start.ts";
import { freePort } from "./running-service.ts";

const state = mkdtempSync(join(tmpdir(), "locations-start-"));
afterEach(() => Start.stopAll());
afterAll(() => rmSync(state, { recursive: true, force: true }));

async function germanRegions(url: string): Promise<unknown> {
  const body = JSON.stringify({ locale: "de" });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url + CALL, { method: "POST", headers, body });
  const { regions } = await answer.json<{ regions: { nameLocalized: string }[] }>();
  return regions.map(({ nameLocalized }) => nameLocalized);
}

/** From the table in the test of the proxy: the paths that read the stores. */
const MINIFLARE_PATHS = [
  "/__cf_local/stream",
  "/__local_artifacts__",
  "/cdn-cgi/",
  "/cdn-cgi/local/email",
  "/cdn-cgi/local/explorer",
  "/cdn-cgi/local/explorer/api",
  "/cdn-cgi/local/platform-proxy",
  "/cdn-cgi/local/r2/public/locations-archive/catalog/manifest",
  "/cdn-cgi/local/r2/s3",
  "/cdn-cgi/local/scheduled",
];

/** The port on which workerd listens. */
function ownPort(pids: ReadonlySet<number>): string {
  const workerd = processes().find(
    ({ pid, command }) => pids.has(pid) && command.includes("workerd serve"),
  );
  return process.platform === "linux" ? portInProc(workerd?.pid) : portByLsof(workerd?.pid);
}

function portByLsof(pid: number | undefined): string {
  const args = ["-nP", "-a", "-p", String(pid), "-iTCP", "-sTCP:LISTEN", "-Fn"];
  const { stdout } = spawnSync("lsof", args, { encoding: "utf8" });
  return /^n127\.0\.0\.1:(\d+)$/m.exec(stdout)?.[1] ?? "";
}

/** As `lsof`, which macOS has and most of Linux has not. */
function portInProc(pid: number | undefined): string {
  const files = readdirSync(`/proc/${pid}/fd`).map((file) =>
    readlinkSync(`/proc/${pid}/fd/${file}`),
  );
  const listening = "0A";
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n")) {
    const [, local = "", , socket, , , , , , inode] = line.trim().split(/\s+/);
    if (socket === listening && files.includes(`socket:[${inode}]`))
      return String(Number.parseInt(local.split(":")[1] ?? "", 16));
  }
  return "";
}

/** The status of an answer, whoever has signed the certificate. */
async function statusOf(url: string): Promise<number | undefined> {
  const sent = request(url, { rejectUnauthorized: false, agent: false }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage]; // the event's signature
  answer.resume();
  return answer.statusCode;
}

describe("npm start", () => {
  it("publishes, prints how to call the service, and leaves nothing behind when it ends", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const started = new Start([
      `--port=${port}`,
      "--locales=en,de",
      "--var=DEFAULT_LOCALE=de",
      `--var=ADMIN_TOKENS=${JSON.stringify([{ id: "it's $HOME", sha256: digest("ours"), scopes: ["read"] }])}`,
      `--state=${state}`,
      "--fresh",
    ]);
    await started.says(SERVING);
    expect(started.stderr).toBe("");
    expect(started.stdout).toContain("Catalog published.");
    expect(started.stdout).toContain(`Serving ${manifest.counts.airports} airports`);
    expect(started.stdout).toContain(`curl -s --compressed --json '{"locale":"de"}' ${url}${CALL}`);
    expect(started.stdout).toContain(
      `npx @bufbuild/buf curl --schema ${url}/locations.binpb --protocol grpcweb -d '{"locale":"de"}' ${url}${CALL}`,
    );
    expect(started.stdout).toContain(`npm install ${url}/client.tgz`);
    expect(await germanRegions(url)).toContain("Balearen");
    const unnamed = await fetch(`${url}${CALL}?connect=v1&encoding=json&message=%7B%7D`);
    expect(unnamed.headers.get("content-language")).toBe("de");
    await unnamed.body?.cancel();

    expect(started.stdout).toContain(`Admin token  ${TOKEN_FILE}\n`);
    const token = readFileSync(TOKEN_FILE, "utf8").trim();
    const authorization = `Bearer ${token}`;
    const admin = await fetch(`${url}/admin/nothing`, { headers: { authorization } });
    expect(admin.status).toBe(404);
    expect((await fetch(`${url}/admin/nothing`)).status).toBe(401);
    const ours = { headers: { authorization: "Bearer ours" } };
    const whoami = await fetch(`${url}/admin/whoami`, ours);
    expect(await whoami.json()).toMatchObject({ id: "it's $HOME", scopes: ["read"] });
    await started.says("succeeded: published");
    expect(started.stdout).toMatch(/^\d\d:\d\d:\d\d ingest [\da-f-]{36} started \(manual\)$/m);
    expect(started.stdout).toMatch(
      /^\d\d:\d\d:\d\d ingest [\da-f-]{36} succeeded: published generation 1 in \d+\.\d s$/m,
    );
    const log = readFileSync(join(state, "worker.log"), "utf8");
    expect(log).toContain('"event":"ingest_');
    expect(log).not.toContain(token);
    // Miniflare's tracing would store every request here.
    expect(readdirSync(join(state, "v3"))).not.toContain("observability");
    // Its own routes, also by its own headers, would show and change what is stored.
    const stored = `${url}/cdn-cgi/local/r2/public/locations-archive/catalog/manifest`;
    expect((await fetch(stored)).status).toBe(404);
    const hidden = await fetch(`${url}/admin/nothing`, { headers: { "mf-original-url": stored } });
    expect(hidden.status).toBe(401);
    // The Worker answers long before all of such a body has come.
    const long = { method: "POST", body: "x".repeat(2_500_000) };
    const headers = { "content-type": "application/json" };
    for (let call = 0; call < 20; call++)
      expect((await fetch(url + CALL, { ...long, headers })).status).toBe(429);
    const isMade = started.stdout.includes("Made an admin token");
    expect(started.stdout.split(token).length - 1).toBe(isMade ? 1 : 0);

    const pids = started.descendants();
    const commands = processes().filter(({ pid }) => pids.has(pid));
    expect(commands.some(({ command }) => command.includes("workerd serve"))).toBe(true);
    expect(await started.interrupt()).toBe(0);
    expect(started.stderr).toBe("");
    expect(await survivors(pids)).toEqual([]);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  it("prints the admin token when it creates it, and never again", async () => {
    const args = [resolve("scripts/start.ts"), `--port=${await freePort()}`];
    const clone = mkdtempSync(join(tmpdir(), "locations-clone-"));
    copyFileSync("wrangler.toml", join(clone, "wrangler.toml"));
    // Without wrangler it ends once it has the token.
    const start = () => spawnSync(process.execPath, args, { cwd: clone, encoding: "utf8" });
    const first = start().stdout;
    const token = readFileSync(join(clone, TOKEN_FILE), "utf8").trim();
    expect(first.split(token)).toHaveLength(2);
    expect(start().stdout).not.toContain(token);
    rmSync(clone, { recursive: true });
  });

  it("finds the published catalog at the next start, and shares neither its port nor its folder", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const started = new Start([`--port=${port}`, "--locales=en,de", `--state=${state}`, "--quiet"]);
    await started.says(SERVING);
    expect(started.stdout).toContain("Catalog unchanged.");
    expect(started.stdout).not.toMatch(/^\d\d:\d\d:\d\d /m);
    expect(started.stdout).not.toContain(readFileSync(TOKEN_FILE, "utf8").trim());

    const samePort = new Start([`--port=${port}`, `--state=${state}-other`, "--fresh"]);
    expect(await samePort.ends()).toBe(1);
    expect(samePort.stderr).toContain(`Port ${port} is taken by another process`);
    const sameFolder = new Start([`--port=${await freePort()}`, `--state=${state}`, "--fresh"]);
    expect(await sameFolder.ends()).toBe(1);
    expect(sameFolder.stderr).toContain(`${state} is in use by another npm start`);
    expect(await germanRegions(url)).toContain("Balearen");

    const pids = started.descendants();
    // As SECURITY.md says of Miniflare's own port.
    const own = `https://127.0.0.1:${ownPort(pids)}`;
    const open = [];
    for (const path of MINIFLARE_PATHS) if ((await statusOf(own + path)) !== 404) open.push(path);
    expect(open).toEqual([
      "/cdn-cgi/local/platform-proxy",
      "/cdn-cgi/local/r2/public/locations-archive/catalog/manifest",
    ]);
    await expect(fetch(own)).rejects.toThrow("fetch failed");
    expect(await started.interrupt()).toBe(0);
    expect(await survivors(pids)).toEqual([]);
  });

  it("writes nothing but the log to standard output with --json", async () => {
    const args = [`--port=${await freePort()}`, "--locales=en,de", `--state=${state}`, "--json"];
    const started = new Start(args);
    await started.says(SERVING, "stderr");
    await started.says('"event":"ingest_ended"');
    expect(await started.interrupt()).toBe(0);
    const lines = started.stdout.trim().split("\n");
    const events = lines
      .map((line): { event: string } => JSON.parse(line))
      .map(({ event }) => event);
    expect(events).toContain("ingest_started");
    expect(started.stderr).toContain("Catalog unchanged.");
  });

  it("leaves no process running when it is killed, and serves at the next start", async () => {
    const args = [`--port=${await freePort()}`, "--locales=en", `--state=${state}`];
    const killed = new Start([...args, "--fresh"]);
    await killed.says("starting the Worker");
    const pids = await killed.hasStarted(1);
    killed.kill();
    expect(await survivors(pids)).toEqual([]);

    const next = new Start(args);
    await next.says(SERVING);
    expect(next.stdout).toContain(`Serving ${manifest.counts.airports} airports`);
    expect(await next.interrupt()).toBe(0);
  });

  it("publishes over a catalog in other locales without force, and is healthy once it serves", async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const args = ["--locales=de", "--var=DEFAULT_LOCALE=de", `--state=${state}`];
    const started = new Start([`--port=${port}`, ...args]);
    await started.says(SERVING);
    const health = await fetch(`${url}/catalog/health`);
    expect(await health.json()).toMatchObject({ status: "pass", locales: [{ locale: "de" }] });
    expect(started.stdout).toContain("Catalog published.");
    expect(await germanRegions(url)).toContain("Balearen");
    expect(await started.interrupt()).toBe(0);
  });

  it.each(["starting the Worker", "waiting …", "encode …"])(
    "ends everything that it started when it is interrupted at: %s",
    async (step) => {
      const started = new Start([
        `--port=${await freePort()}`,
        "--locales=en",
        `--state=${state}`,
        "--fresh",
      ]);
      await started.says(step);
      const pids = await started.hasStarted(1);
      expect(await started.interrupt()).toBe(0);
      expect(started.stderr).toBe("");
      expect(await survivors(pids)).toEqual([]);
    },
  );

  it("ends when the process that started it is killed", async () => {
    const port = await freePort();
    const args = [`--port=${port}`, "--locales=en", `--state=${state}`, "--fresh"];
    const started = new Start(args, { inShell: true });
    await started.says("starting the Worker");
    const pids = await started.hasStarted(2);
    started.kill();
    expect(await survivors(pids)).toEqual([]);
  });

  it("names a port that is taken before it touches the stored state", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const started = new Start([`--port=${port}`, `--state=${state}`, "--fresh"]);
    expect(await started.ends()).toBe(1);
    expect(started.stderr).toContain(`Port ${port} is taken by another process`);
    expect(started.stderr).toContain("npm start -- --port");
    expect(started.stdout).toBe("");
    server.close();
  });

  it.each([
    [["--locales=xx"], /^--locales or --var: LOCALES .*"xx"; there are names in .*\bde\b/m],
    [["--port=80a"], /--port must be a number from 1 to 65535, not "80a"/],
    [["--var=alert_webhooks=[]"], /--var must be NAME=VALUE, with a name such as/],
    [
      ["--var=LOCALESX=3"],
      /^--locales or --var: there is no setting LOCALESX$[^]*^All settings: docs\/deploying\.md/m,
    ],
    [["--var=ADMIN_TOKENS=secret"], /^--locales or --var: ADMIN_TOKENS must be a JSON list/m],
    [["--var=ALERT_PING_URL=ftp://a/"], /^--locales or --var: ALERT_PING_URL must begin with/m],
    [["--lokales=de"], /Unknown option '--lokales'[^]*Usage: npm start/],
    [["en"], /Unexpected argument 'en'[^]*Usage: npm start/],
  ])("refuses %s with the right usage", async (args, message) => {
    const started = new Start([`--state=${state}`, ...args]);
    expect(await started.ends()).toBe(1);
    expect(started.stderr).toMatch(message);
    expect(started.stderr).not.toContain("    at ");
    expect(started.stdout).toBe("");
  });

  it("explains its options", async () => {
    const started = new Start(["--help"]);
    expect(await started.ends()).toBe(0);
    for (const option of [
      "--port N",
      "--locales LIST",
      "--state FOLDER",
      "--fresh",
      "--var NAME=VALUE",
      "--json",
      "--quiet",
    ])
      expect(started.stdout).toContain(option);
  });
});

it("the starts above do not disturb the service that the other tests share", async () => {
  expect((await fetch(`${inject("service").url}/catalog/health`)).status).toBe(200);
});
