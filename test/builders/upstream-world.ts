/** An HTTP upstream and the server that it asks, on a fixed date. */
import {
  HTTP_DEADLINE_MS,
  type HttpUpstreamOptions,
  httpUpstream,
} from "../../src/sources/http-upstream.ts";
import {
  TransientSourceError,
  SourceError,
  type SourceFault,
} from "../../src/sources/source-error.ts";
import type { ArchivedFiles, Upstream, UpstreamFile } from "../../src/sources/upstream.ts";
import { anAirportRow, csvOf } from "./source.ts";
import { file, type UpstreamServer } from "./upstream-server.ts";

export const AIRPORTS_PATH = "/data/airports.csv";
export const REGIONS_PATH = "/data/regions.csv";
export const AIRPORTS_CSV = csvOf([anAirportRow()]);
export const REGIONS_CSV = "code,name\nCH-ZH,Zürich\n";
/** The time of every fetch. */
const START = Date.parse("2026-11-01T04:17:00.000Z");

export class UpstreamWorld {
  readonly server: UpstreamServer;
  options: Partial<HttpUpstreamOptions> = {};

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
      maxBytes: 100_000,
      deadlineMs: HTTP_DEADLINE_MS,
      fetch: async (url, init) => fetch(url, init),
      now: () => START,
      ...this.options,
    });
  }

  async fetch(archived?: ArchivedFiles): Promise<UpstreamFile[]> {
    return this.upstream().fetch(archived);
  }

  /** Fetches, and returns the error. */
  async failure(): Promise<Failure> {
    try {
      await this.fetch();
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      const { fault, message } = error;
      return { fault, message, isTransient: error instanceof TransientSourceError };
    }
    throw new Error("the fetch did not fail");
  }
}

interface Failure {
  readonly fault: SourceFault;
  readonly message: string;
  readonly isTransient: boolean;
}

/** A response as the platform makes it, with the URL where the redirects ended. */
export function responseFrom(url: string, body: BodyInit | null, init?: ResponseInit): Response {
  return Object.defineProperty(new Response(body, init), "url", { value: url });
}

/** The text of a file that was sent; undefined if it was not. */
export function textOf(files: readonly UpstreamFile[], index: number): string | undefined {
  const found = files[index];
  return found !== undefined && "bytes" in found
    ? new TextDecoder().decode(found.bytes)
    : undefined;
}
