import { beforeEach, describe, expect, it, vi } from "vitest";
import { JOINING_MAX_BYTES } from "../../../src/storage/body-loader.ts";
import { blobKey } from "../../../src/storage/keys.ts";
import { aBody, aLocaleEntry, aManifest, blobsOf } from "../../builders/manifest.ts";
import { ReaderWorld } from "../../builders/reader-world.ts";

const patient = { signal: new AbortController().signal };

let world: ReaderWorld;

describe("many bodies that nobody holds", () => {
  const TEXTS = ["en", "de", "ja", "ar", "fr"];
  /** So large that only one fits beside none other into what may be in the making. */
  const bytes = JOINING_MAX_BYTES / 2 + 1;
  const locales = Object.fromEntries(
    TEXTS.map((text) => {
      const identity = { ...aBody(text), bytes };
      const each = { identity };
      const bodies = {
        proto: each,
        json: each,
        "grpc-web": each,
        "grpc-web-text": each,
        "grpc-web-json": each,
      };
      return [text, aLocaleEntry({ bodies })];
    }),
  );
  const manifest = aManifest({ locales });
  /** Calls that the store has yet to answer. */
  let pending: (() => void)[];

  beforeEach(() => {
    world = new ReaderWorld();
    pending = [];
    world.store.publish({ manifest, blobs: TEXTS.flatMap(blobsOf) });
    world.store.before = () => new Promise((resolve) => void pending.push(resolve));
  });

  const ask = (locale: string, signal = patient.signal) =>
    world.reader.open(
      { manifest, locale, representation: "proto", codings: ["identity"] },
      { signal },
    );
  const settled = () => new Promise(setImmediate);

  /** Answers the store's calls until there are none; how many there were at most at once. */
  async function answerAll(): Promise<number> {
    let most = 0;
    for (await settled(); pending.length > 0; await settled()) {
      most = Math.max(most, pending.length);
      for (const answer of pending.splice(0)) answer();
    }
    return most;
  }

  it("are joined one after the other where no more fit, and all are answered", async () => {
    const answers = TEXTS.flatMap((locale) => Array.from({ length: 10 }, () => ask(locale)));
    expect(await answerAll()).toBe(2); // the two segments of one body
    for (const answer of await Promise.all(answers)) expect(answer.ok).toBe(true);
    expect(world.store.calls).toHaveLength(2 * TEXTS.length);
  });

  it("are not waited for by a request that is over", async () => {
    const controller = new AbortController();
    const [first, second, third] = [ask("en"), ask("de", controller.signal), ask("ja")];
    await settled();
    controller.abort(new Error("deadline"));
    await expect(second).rejects.toThrow("deadline");
    expect(await answerAll()).toBe(2);
    expect(await Promise.all([first, third])).toMatchObject([{ ok: true }, { ok: true }]);
  });

  it("let others in when a load has failed", async () => {
    const [first, second] = [ask("en"), ask("de")];
    for (const replica of ["kv", "r2"] as const)
      for (const [sha256] of blobsOf("en")) world.store[replica].delete(blobKey(sha256));
    await answerAll();
    expect(await first).toMatchObject({ ok: false, reason: "data_loss" });
    expect(await second).toMatchObject({ ok: true });
  });

  it("wait their turn also to be loaded anew for those who waited for a load that was lost", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const pass = (ms: number) => {
        world.time += ms;
        return vi.advanceTimersByTimeAsync(ms);
      };
      const waiting = Array.from({ length: 20 }, () => ask("en"));
      await settled();
      pending.length = 0; // what was asked for is never answered
      await pass(6_000);
      const other = ask("de");
      await pass(2_000);
      expect(await answerAll()).toBe(2);
      expect(await other).toMatchObject({ ok: true });
      // The one who began the lost load waits for it, until its request ends.
      for (const answer of await Promise.all(waiting.slice(1)))
        expect(answer).toMatchObject({ ok: true });
      expect(world.store.calls).toHaveLength(2 + 2 + 2);
    } finally {
      vi.useRealTimers();
    }
  });
});
