/** Calls the service and searches its answer, off the thread that draws. */
import { create, fromBinary } from "@bufbuild/protobuf";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import {
  LocationsRequestSchema,
  type LocationsResponse,
  LocationsResponseSchema,
  LocationsService,
} from "../../gen/locations/v1/locations_pb.ts";
import { packCatalog, unpackCatalog } from "../../client/src/catalog.ts";
import { countryNames } from "../../client/src/search/country-names.ts";
import type { CallSettings } from "./permalink.ts";
import { placeMessages } from "./place-messages.ts";
import { type Ranks, type RanksFile, readRanks } from "../../client/src/search/ranks.ts";
import { search } from "../../client/src/search/search.ts";
import {
  addOtherNames,
  createSearchIndex,
  type OtherNames,
  type SearchIndex,
} from "../../client/src/search/search-index.ts";
import type { FromWorker, ToWorker, WireAnswer, WireRequest } from "./worker-messages.ts";

/** One that also has a typo takes longer, and speeds up what is typed next no more. */
const WARM_UP = "london";

const ranks = fetch("/search/v1/ranks.json")
  .then((answer): Promise<RanksFile> => answer.json())
  // Without ranks the search finds every place, but does not list the big ones first.
  .then(readRanks, (): Ranks => readRanks());

const answers = new Map<number, (answer: WireAnswer | null) => void>();
let index: SearchIndex | undefined;
let named: SearchIndex | undefined;
let names: Promise<OtherNames | null> | undefined;
let lastCall = 0;
let lastTyped = "";
let loaded: LocationsResponse | undefined;
let isWarm = false;

addEventListener("message", ({ data }: MessageEvent<ToWorker>) => {
  switch (data.kind) {
    case "call":
      return void callService(data.call, data.settings);
    case "began":
      return void showBeginning(data.call, data.beginning);
    case "answered":
      return answers.get(data.call)?.(data.answer);
    case "prepare":
      names ??= readNames();
      return void names.then(addNames);
    case "search":
      lastTyped = data.typed;
      return tellFound();
    case "show": {
      const messages = loaded ? placeMessages(loaded, data.place) : [];
      return tell({ kind: "shown", id: data.place.id, messages });
    }
    default:
      return data satisfies never;
  }
});

function tell(message: FromWorker, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}

function tellFound(): void {
  const found = index ? search(index, lastTyped) : null;
  tell({ kind: "found", typed: lastTyped, found });
}

async function callService(number: number, settings: CallSettings): Promise<void> {
  lastCall = number;
  let answered = false;
  const viaPage: typeof fetch = async (input, init = {}) => {
    const sent = sendByPage(number, { input, init });
    const answer = await sent;
    if (answer === null) throw new TypeError("no answer");
    answered = true;
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  };
  try {
    const client = createClient(LocationsService, createTransport(settings, viaPage));
    const request = create(LocationsRequestSchema, { locale: settings.locale });
    let described = describeAnswer(new Headers());
    const answer = await client.getLocationsV1(request, {
      onHeader: (headers) => (described = describeAnswer(headers)),
    });
    const known = await ranks;
    if (number !== lastCall) return;
    loaded = answer;
    const catalog = packCatalog(answer, known);
    tell({ kind: "loaded", call: number, catalog, isWhole: true, ...described });
    const { locale } = described;
    const inLocale = new Intl.DisplayNames([locale], { type: "region" });
    const countryName = ({ code }: { readonly code: string }) => inLocale.of(code) ?? code;
    index = createSearchIndex(await unpackCatalog(catalog), { ranks: known, countryName });
    void names?.then(addNames);
    if (lastTyped !== "") tellFound();
  } catch (cause) {
    const error = ConnectError.from(cause);
    const retryAfter = Number(error.metadata.get("retry-after") ?? "");
    const { code, rawMessage: message } = error;
    const retryAfterSeconds = retryAfter > 0 ? retryAfter : null;
    tell({ kind: "failed", call: number, failure: { code, message, retryAfterSeconds, answered } });
  }
  setTimeout(warmUp, 0); // after the messages that wait
}

/** Searches once before anybody types, because the first search takes several times as long. */
function warmUp(): void {
  if (isWarm || index === undefined || lastTyped !== "") return;
  isWarm = true;
  search(index, WARM_UP);
}

/** Shows what is there of an answer, without waiting for its regions. */
async function showBeginning(call: number, { headers, body }: WireAnswer): Promise<void> {
  const known = await ranks;
  if (call !== lastCall) return;
  const catalog = packCatalog(fromBinary(LocationsResponseSchema, new Uint8Array(body)), known);
  tell({ kind: "loaded", call, catalog, isWhole: false, ...describeAnswer(new Headers(headers)) });
}

function describeAnswer(headers: Headers): { readonly locale: string; readonly version: number } {
  return {
    locale: headers.get("content-language") ?? "en",
    version: Number(headers.get("catalog-version")),
  };
}

function sendByPage(
  call: number,
  { input, init }: { readonly input: RequestInfo | URL; readonly init: RequestInit },
): Promise<WireAnswer | null> {
  const request: WireRequest = {
    url: new Request(input).url,
    method: init.method ?? "GET",
    headers: [...new Headers(init.headers)],
    body: init.body ?? null,
  };
  tell({ kind: "send", call, request });
  return new Promise((resolve) => answers.set(call, resolve));
}

/** Reads the names of places in other languages. Without them, those of the answer are found. */
async function readNames(): Promise<OtherNames | null> {
  const answer = await fetch("/search/v1/names.json").catch(() => null);
  return answer?.ok ? answer.json() : null;
}

function addNames(read: OtherNames | null): void {
  if (index === undefined || index === named || read === null) return;
  addOtherNames(index, { names: read, countryNames });
  named = index;
  if (lastTyped !== "") tellFound();
}

function createTransport(
  { protocol, encoding }: CallSettings,
  fetch: typeof globalThis.fetch,
): Transport {
  const options = { baseUrl: location.origin, useBinaryFormat: encoding === "proto", fetch };
  switch (protocol) {
    case "connect":
      return createConnectTransport(options);
    case "connect-get":
      return createConnectTransport({ ...options, useHttpGet: true });
    case "grpc-web":
      return createGrpcWebTransport(options);
    default:
      return protocol satisfies never;
  }
}
