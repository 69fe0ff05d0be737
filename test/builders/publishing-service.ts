/** A small service that a client sees through a proxy, and that publishes another version when it should. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, inject } from "vitest";
import { CALL } from "../system/http.ts";
import { TestService } from "../system/test-service.ts";
import { CountingProxy } from "./counting-proxy.ts";
import { type SmallUpstream, startSmallUpstream } from "./small-upstream.ts";

/** A locale that it has besides English. */
export const LOCALE = "de";

/** With fewer, the headers of three exchanges weigh as much as a tenth of the catalog. */
const AIRPORTS = 1_500;

const POLL_MS = 50;
const MESSAGE = encodeURIComponent(JSON.stringify({ locale: LOCALE }));

export class PublishingService {
  #upstream: SmallUpstream | undefined;
  #service: TestService | undefined;
  #proxy: CountingProxy | undefined;

  /** What clients call. */
  get proxy(): CountingProxy {
    if (this.#proxy === undefined) throw new Error("the service has not started");
    return this.#proxy;
  }

  async start(): Promise<void> {
    this.#upstream = await startSmallUpstream(AIRPORTS);
    const { vars } = this.#upstream;
    this.#service = await TestService.start({
      build: inject("build"),
      locales: `en,${LOCALE}`,
      vars,
    });
    this.#proxy = await CountingProxy.start(this.#service.url);
    await this.#ingest();
  }

  /** Publishes a version from an airports.csv that is edited, and waits until it is served. */
  async publish(edit: (airports: string) => string): Promise<void> {
    const { version } = await this.served();
    this.#upstream?.change(edit);
    await this.#ingest();
    while ((await this.served()).version === version) await sleep(POLL_MS);
  }

  /** The version that is served, as its headers name it. */
  async served(): Promise<{ readonly version: string | null; readonly sha256: string | null }> {
    const url = `${this.#service?.url}${CALL}?connect=v1&encoding=json&message=${MESSAGE}`;
    const { headers } = await fetch(url, { method: "HEAD" });
    return { version: headers.get("catalog-version"), sha256: headers.get("catalog-sha256") };
  }

  async stop(): Promise<void> {
    await this.#proxy?.stop();
    await this.#service?.stop();
    await this.#upstream?.stop();
  }

  async #ingest(): Promise<void> {
    const run = await this.#service?.ingest();
    if (run?.outcome !== "published") throw new Error(`not published: ${JSON.stringify(run)}`);
  }
}

/** A service for all tests of the file. */
export function usePublishingService(): PublishingService {
  const service = new PublishingService();
  beforeAll(() => service.start());
  afterAll(() => service.stop());
  return service;
}
