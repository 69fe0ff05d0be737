import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../test/system/running-service.ts";
import { processCpuMs } from "./workerd-process.ts";

/** Where Debian's packages `nginx-light` and `libnginx-mod-http-brotli-static` put them. */
const BINARIES = ["nginx", "/usr/sbin/nginx"];
const BROTLI_MODULE = "/usr/lib/nginx/modules/ngx_http_brotli_static_module.so";
const POLL_MS = 50;

/** nginx in one process, which sends files that were compressed before. */
export class StaticServer {
  readonly port: number;
  readonly #folder: string;
  readonly #child: ChildProcess;

  private constructor(port: number, folder: string, child: ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#child = child;
  }

  /** Starts it; or says why there is none, and gives undefined. */
  static async start(say: (line: string) => void): Promise<StaticServer | undefined> {
    const binary = BINARIES.find((name) => spawnSync(name, ["-v"]).status === 0);
    if (binary === undefined || !existsSync(BROTLI_MODULE)) {
      say(
        "no static file server is measured: nginx with its module brotli_static is not installed",
      );
      return undefined;
    }
    const folder = mkdtempSync(join(tmpdir(), "bench-static-"));
    mkdirSync(join(folder, "files"));
    const port = await freePort();
    writeFileSync(join(folder, "nginx.conf"), configuration(folder, port));
    const child = spawn(binary, ["-p", folder, "-c", join(folder, "nginx.conf")], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    await untilServing(port, child);
    return new StaticServer(port, folder, child);
  }

  readonly cpuMs = (): number => processCpuMs(this.#child.pid);

  /** Puts a body where it is served, in the coding that it is in. */
  write(name: string, body: Uint8Array, coding: string): void {
    const file = join(this.#folder, "files", name);
    writeFileSync(file, coding === "br" ? "" : body);
    if (coding === "br") writeFileSync(`${file}.br`, body);
  }

  stop(): void {
    this.#child.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function configuration(folder: string, port: number): string {
  const spools = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `
load_module ${BROTLI_MODULE};
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 64; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  default_type application/octet-stream;
  ${spools.map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ")}
  server {
    listen 127.0.0.1:${port};
    root ${folder}/files;
    brotli_static on;
  }
}
`;
}

async function untilServing(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`nginx ended with status ${child.exitCode}`);
    try {
      await fetch(`http://127.0.0.1:${port}/`);
      return;
    } catch {
      await sleep(POLL_MS);
    }
  }
}
