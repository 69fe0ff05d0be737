import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ingest, untilServedHere } from "../../../scripts/local-ingest.ts";
import { type FakeService, fakeService } from "../../builders/fake-service.ts";

const TOKEN = "a-token-that-was-given-by-hand";

let service: FakeService;
beforeEach(async () => {
  service = await fakeService({ knows: (token) => token === TOKEN, pausedAfter: 0, generation: 4 });
});
afterEach(() => service.stop());

function worker() {
  return { url: service.url, logFile: "worker.log", assertAlive: () => undefined };
}

describe("an ingest on this machine", () => {
  it("is not waited for while ingestion is paused", async () => {
    expect(await ingest(worker(), TOKEN, 1)).toBeUndefined();
    expect(await untilServedHere(worker(), 0)).toMatchObject({ version: 4 });
  });

  it("fails with what is served where its version never is", async () => {
    await expect(untilServedHere(worker(), 5, 50)).rejects.toThrow(
      /with version 5: (it serves version 4|no answer)\. .* worker\.log/,
    );
  });
});
