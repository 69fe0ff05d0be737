import { expect, it } from "vitest";
import { openPage, useBrowser, useSite } from "../../web/test/browser/browser.ts";
import {
  callUrl,
  contentOf,
  DictionaryBrowser,
  FORMS,
  renamed,
} from "../../web/test/browser/dictionary-browser.ts";
import { LOCALE, usePublishingService } from "../builders/publishing-service.ts";
import { PackagedServer } from "../builders/packaged-server.ts";
import { freePort } from "../system/running-service.ts";
import { CACHES } from "./shared-cache.ts";

useBrowser();
const service = usePublishingService();
const site = useSite();

const WHOLE_BYTES = 100_000;
const DELTA_BYTES = 2_048;
let version = 1;

it.each(Object.entries(CACHES))(
  "%s gives each browser the delta of its own dictionary",
  async (_, prepare) => {
    const port = await freePort();
    let cache = await PackagedServer.start(prepare, service.proxy.url, port);
    const open = async () => DictionaryBrowser.open(await openPage(site()));

    async function receive(browser: DictionaryBrowser) {
      const all: string[] = [];
      for (const form of FORMS) {
        const answer = await browser.fetch(callUrl(cache.url, form, LOCALE));
        const { bytes, sha256 } = answer;
        expect({ bytes, sha256 }).toEqual(
          await contentOf(callUrl(service.proxy.url, form, LOCALE)),
        );
        const size = answer.wireBytes > WHOLE_BYTES ? "whole" : "delta";
        expect(size === "whole" || answer.wireBytes < DELTA_BYTES).toBe(true);
        all.push(`${answer.cached} ${size} of ${answer.version}`);
      }
      return all;
    }

    async function publish() {
      version++;
      await service.publish(renamed(version));
      await cache.stop();
      cache = await PackagedServer.start(prepare, service.proxy.url, port);
    }

    try {
      const both = (answer: string) => FORMS.map(() => `${answer} of ${version}`);
      const [first, second, early] = [await open(), await open(), await open()];
      expect(await receive(first)).toEqual(both("MISS whole"));
      expect(await receive(second)).toEqual(both("HIT whole"));
      expect(await receive(early)).toEqual(both("HIT whole"));
      await publish();
      expect(await receive(first)).toEqual(both("MISS delta"));
      expect(await receive(second)).toEqual(both("HIT delta"));
      expect(await receive(await open())).toEqual(both("MISS whole"));
      expect(await receive(await open())).toEqual(both("HIT whole"));
      await publish();
      expect(await receive(first)).toEqual(both("MISS delta"));
      expect(await receive(early)).toEqual(both("MISS delta"));
      expect(await receive(second)).toEqual(both("HIT delta"));
      expect(await receive(await open())).toEqual(both("MISS whole"));
    } finally {
      await cache.stop();
    }
  },
);
