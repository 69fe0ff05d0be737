/** An HTTP upstream, the server that it asks, and a clock that passes by sleeping only. */
import {
  HTTP_LIMITS,
  type HttpLimits,
  type HttpUpstreamOptions,
  httpUpstream,
} from "../../src/sources/http-upstream.ts";
import type { SourceFault } from "../../src/sources/source-error.ts";
import type { ArchivedFiles, Upstream, UpstreamFile } from "../../src/sources/upstream.ts";
import { anAirportRow, csvOf } from "./source.ts";
import { file, type UpstreamServer } from "./upstream-server.ts";

export const AIRPORTS_PATH = "/data/airports.csv";
export const REGIONS_PATH = "/data/regions.csv";
export const AIRPORTS_CSV = csvOf([anAirportRow()]);
export const REGIONS_CSV = "code,name\nCH-ZH,Zürich\n";
/** When the clock begins. */
export const START = Date.parse("2026-11-01T04:17:00.000Z");

export class UpstreamWorld {
  readonly server: UpstreamServer;
  /** Waits between attempts, in ms. */
  readonly sleeps: number[] = [];
  limits: HttpLimits = { ...HTTP_LIMITS, maxBytes: 100_000 };
  options: Partial<HttpUpstreamOptions> = {};
  #nowMs = START;

  constructor(server: UpstreamServer) {
    this.server = server;
    server.on(AIRPORTS_PATH, file(AIRPORTS_CSV));
    server.on(REGIONS_PATH, file(REGIONS_CSV));
  }

  upstream(): Upstream {
    return httpUpstream({
      urls: {
        "airports.csv": this.server.url(AIRPORTS_PATH),
        "regions.csv": this.server.url(REGIONS_PATH),
      },
      allowedHosts: [],
      limits: this.limits,
      fetch: async (url, init) => fetch(url, init),
      now: () => this.#nowMs,
      sleep: async (ms) => {
        this.sleeps.push(ms);
        this.#nowMs += ms;
      },
      random: () => 1,
      ...this.options,
    });
  }

  /** Lets time pass. */
  wait(ms: number): void {
    this.#nowMs += ms;
  }

  async fetch(archived?: ArchivedFiles): Promise<UpstreamFile[]> {
    return this.upstream().fetch(archived);
  }
}

/** What a rejection has to look like. */
export function aSourceError(fault: SourceFault): object {
  return { name: "SourceError", fault };
}

/** The text of a file that was sent; undefined if it was not. */
export function textOf(files: readonly UpstreamFile[], index: number): string | undefined {
  const found = files[index];
  return found !== undefined && "bytes" in found
    ? new TextDecoder().decode(found.bytes)
    : undefined;
}
