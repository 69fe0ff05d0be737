/**
 * Lets the explorer load without a network. It answers for nothing but the explorer's page and the
 * files listed below; every call of the service passes it by.
 *
 * With a network, the page is always the deployed one. A deployment that changes a file changes this
 * script, so that the browser installs it again: it fetches the new files and forgets the old.
 */

/** Paths of the explorer's files, from the build. */
declare const FILES: readonly string[];
/** The cache's name, by a hash of the list. */
declare const CACHE: string;

const PAGE = "/";
const CACHE_PREFIX = "explorer-";

/** The parts of these events that this script uses: its types are not those of a page. */
interface InstallEvent extends Event {
  waitUntil(promise: Promise<unknown>): void;
}
interface RequestEvent extends Event {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
declare function skipWaiting(): Promise<void>;

addEventListener("install", (event) => {
  (event as InstallEvent).waitUntil(install()); // as the name says
});
addEventListener("activate", (event) => {
  (event as InstallEvent).waitUntil(forgetOthers()); // as the name says
});
addEventListener("fetch", (event) => {
  const fetched = event as RequestEvent; // as the name says
  const answer = answerTo(fetched.request);
  if (answer !== undefined) fetched.respondWith(answer);
});

async function install(): Promise<void> {
  const cache = await caches.open(CACHE);
  await cache.addAll([new Request(PAGE, { cache: "reload" }), ...FILES]);
  await skipWaiting();
}

async function forgetOthers(): Promise<void> {
  const old = (await caches.keys()).filter(
    (name) => name.startsWith(CACHE_PREFIX) && name !== CACHE,
  );
  await Promise.all(old.map((name) => caches.delete(name)));
}

/** Undefined for what the browser is to fetch as if this script did not exist. */
function answerTo(request: Request): Promise<Response> | undefined {
  const { origin, pathname } = new URL(request.url);
  if (origin !== location.origin || request.method !== "GET") return undefined;
  if (request.mode === "navigate" && pathname === PAGE)
    return fetch(request).catch((cause: unknown) => fromCache(PAGE, () => Promise.reject(cause)));
  if (FILES.includes(pathname)) return fromCache(pathname, () => fetch(request));
  return undefined;
}

async function fromCache(path: string, otherwise: () => Promise<Response>): Promise<Response> {
  const cache = await caches.open(CACHE);
  return (await cache.match(path)) ?? otherwise();
}
