/** nginx and Varnish in front of a service, as Debian packages them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 50;

interface Setup {
  readonly folder: string;
  readonly port: number;
  /** The service. */
  readonly origin: URL;
}

/** Writes the settings of a cache into its folder. Returns the command that starts it. */
type Prepare = (setup: Setup) => readonly [command: string, ...args: string[]];

export const CACHES: { readonly [name: string]: Prepare } = {
  nginx({ folder, port, origin }) {
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
      .map((name) => `${name}_temp_path ${folder}/${name};`)
      .join("\n");
    const settings = join(folder, "nginx.conf");
    writeFileSync(
      settings,
      `daemon off; user root; pid ${folder}/pid; error_log ${folder}/error.log;
      events {}
      http {
        access_log off; ${paths}
        proxy_cache_path ${folder}/cache keys_zone=catalog:1m;
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass ${origin.origin};
            proxy_http_version 1.1;
            proxy_cache catalog;
            add_header X-Cache $upstream_cache_status;
          }
        }
      }`,
    );
    return ["nginx", "-c", settings];
  },
  varnish({ folder, port, origin }) {
    const settings = join(folder, "catalog.vcl");
    writeFileSync(
      settings,
      `vcl 4.1;
      backend service { .host = "${origin.hostname}"; .port = "${origin.port}"; }
      sub vcl_deliver {
        if (obj.hits > 0) { set resp.http.X-Cache = "HIT"; } else { set resp.http.X-Cache = "MISS"; }
      }`,
    );
    // Otherwise it asks for gzip alone.
    const coding = ["-p", "http_gzip_support=off"];
    const work = ["-n", join(folder, "work"), "-s", "default,100m", "-j", "none"];
    return ["varnishd", "-F", "-a", `127.0.0.1:${port}`, "-f", settings, ...work, ...coding];
  },
};

/** A running cache, which is empty at first. */
export class SharedCache {
  readonly #folder = mkdtempSync(join(tmpdir(), "locations-cache-"));
  readonly #process: ChildProcess;
  readonly url: string;

  private constructor(prepare: Prepare, port: number, origin: string) {
    const [command, ...args] = prepare({ folder: this.#folder, port, origin: new URL(origin) });
    this.#process = spawn(command, args, { stdio: "ignore" });
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(prepare: Prepare, origin: string, port: number): Promise<SharedCache> {
    const cache = new SharedCache(prepare, port, origin);
    while (!(await fetch(`${cache.url}/robots.txt`).catch(() => undefined))?.status) {
      if (cache.#process.exitCode !== null) throw new Error("the cache has ended");
      await sleep(POLL_MS);
    }
    return cache;
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill();
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
