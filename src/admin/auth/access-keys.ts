import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTHeaderParameters } from "jose";
import { SingleFlight } from "../../storage/single-flight.ts";

export interface AccessKeysDependencies {
  /** Fetches the JSON Web Key Set. May reject. */
  readonly fetchKeys: () => Promise<unknown>;
  /** Keeps the present request's context alive until a promise settles. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
  readonly now: () => number;
  readonly report: (cause: unknown) => void;
}

/** Keys are fetched at most this often, whatever is sent: a flood of unknown ids fetches nothing. */
export const KEYS_COOLDOWN_MS = 30_000;
/** Keys of this age are fetched again. */
export const KEYS_FRESH_MS = 60 * 60 * 1000;
/** Keys of this age are no longer used, if they cannot be fetched again: Access rotates them. */
export const KEYS_MAX_AGE_MS = 24 * 60 * 60 * 1000;

type FindKey = ReturnType<typeof createLocalJWKSet>;
export type AccessKey = Awaited<ReturnType<FindKey>>;

interface HeldKeys {
  readonly find: FindKey;
  /** Milliseconds since 1970. */
  readonly fetchedAt: number;
}

/** Keys could not be read, and none are held that may still be used. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/**
 * The public keys of a team's Cloudflare Access, held by the isolate. While they cannot be fetched,
 * the held ones are used for a day; with none held nobody gets in by Access.
 */
export class AccessKeys {
  readonly #deps: AccessKeysDependencies;
  readonly #loads: SingleFlight<void>;
  #held: HeldKeys | undefined;
  #attemptedAt = -Infinity;

  constructor(deps: AccessKeysDependencies) {
    this.#deps = deps;
    this.#loads = new SingleFlight(deps.waitUntil, deps.now);
  }

  /**
   * The key that a JWT says it is signed with.
   *
   * @throws KeysUnavailable
   * @throws JWKSNoMatchingKey where there is no such key, or the header names none.
   */
  async find(header: JWTHeaderParameters): Promise<AccessKey> {
    if (header.kid === undefined) throw new errors.JWKSNoMatchingKey();
    const looked = await this.#lookUp(header, KEYS_FRESH_MS);
    if (looked !== undefined) return looked;
    await this.#refresh();
    if (this.#usable(KEYS_MAX_AGE_MS) === undefined)
      throw new KeysUnavailable("no keys of Cloudflare Access are held");
    const found = await this.#lookUp(header, KEYS_MAX_AGE_MS);
    if (found === undefined) throw new errors.JWKSNoMatchingKey();
    return found;
  }

  #usable(maxAgeMs: number): HeldKeys | undefined {
    const held = this.#held;
    return held !== undefined && this.#deps.now() - held.fetchedAt < maxAgeMs ? held : undefined;
  }

  async #lookUp(header: JWTHeaderParameters, maxAgeMs: number): Promise<AccessKey | undefined> {
    try {
      return await this.#usable(maxAgeMs)?.find(header);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined;
      throw error;
    }
  }

  /** Fetches the keys, unless that was tried a moment ago; those who come meanwhile wait for it. */
  async #refresh(): Promise<void> {
    const isCooling = this.#deps.now() - this.#attemptedAt < KEYS_COOLDOWN_MS;
    if (isCooling && !this.#loads.has("keys")) return;
    await this.#loads.load("keys", () => this.#fetch());
  }

  async #fetch(): Promise<void> {
    this.#attemptedAt = this.#deps.now();
    try {
      const keys = (await this.#deps.fetchKeys()) as JSONWebKeySet; // createLocalJWKSet checks it
      this.#held = { find: createLocalJWKSet(keys), fetchedAt: this.#deps.now() };
    } catch (cause) {
      this.#deps.report(cause);
    }
  }
}

const FETCH_DEADLINE_MS = 3_000;
/** Most bytes of a key set; that of a team has two keys, in some 4 kB with their certificates. */
const KEY_SET_MAX_BYTES = 64 * 1024;

/** Fetches a key set. Rejects where the answer is not 200 with JSON, is late or is too long. */
export async function fetchKeySet(url: string, fetch: typeof globalThis.fetch): Promise<unknown> {
  const answer = await fetch(url, {
    headers: { accept: "application/json" },
    redirect: "manual",
    signal: AbortSignal.timeout(FETCH_DEADLINE_MS),
  });
  if (answer.status === 200) return JSON.parse(await readText(answer));
  await answer.body?.cancel();
  throw new Error(`the key set was answered with status ${answer.status}`);
}

/** Does not read on once there is too much. */
async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > KEY_SET_MAX_BYTES)
      throw new Error(`the key set has over ${KEY_SET_MAX_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
