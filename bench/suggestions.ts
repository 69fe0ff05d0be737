/** An isolate for `bench/search.ts`: the CPU of its first suggestions, and of later ones. */
import { parentPort } from "node:worker_threads";
import { Suggester } from "../src/search/suggester.ts";
import { readerOf, searchAssets } from "../test/builders/search-assets.ts";

const ROUNDS = 500;
const TYPED = ["lon", "par", "united", "münchen", "東京"];

const suggester = new Suggester(readerOf(await searchAssets()));

async function cpuMsOf(typed: string): Promise<number> {
  const began = process.threadCpuUsage();
  JSON.stringify(await suggester.suggest({ typed, locale: "de", limit: 8 }));
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1000;
}

const firstMs = await cpuMsOf("lond");
let warmMs = 0;
for (let round = 0; round < 2 * ROUNDS; round++)
  for (const typed of TYPED) {
    const ms = await cpuMsOf(typed);
    if (round >= ROUNDS) warmMs += ms / ROUNDS / TYPED.length;
  }
parentPort?.postMessage({ firstMs, warmMs }, []);
