import { once } from "node:events";
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { AnswerCheck, type WireAnswer } from "../../bench/answer-check.ts";
import { callsFor } from "../../bench/calls.ts";
import type { Older, Served } from "./evidence.ts";
import { type ChaosRequest, MALFORMED, readError, refuseError } from "./check-answer.ts";
import type { Random } from "./random.ts";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";
import { FEWEST_AIRPORTS } from "./upstream-files.ts";

const LOCALES = ["en", "de", "ja", "ar", "de-AT", "xx", "", MALFORMED];
const CODINGS = ["br, gzip", "gzip", "identity", ""];
const TIMEOUT_MS = 2_000;
/** After this time a client gives up: far longer than all deadlines of the service in a row. */
const PATIENCE_MS = 90_000;
const REST_MS = 60;
const SETTLE_MS = 200;

/** Every form of the call. */
export const REQUESTS: readonly ChaosRequest[] = LOCALES.flatMap((locale) =>
  callsFor(locale).flatMap((form) =>
    CODINGS.flatMap((coding): ChaosRequest[] => {
      const headers = { ...form.headers, ...(coding !== "" && { "accept-encoding": coding }) };
      const plain = { ...form, headers, locale, isTimed: false };
      if (form.method === "GET") return [plain, { ...plain, method: "HEAD" }];
      const isGrpcWeb = form.headers["content-type"]?.includes("grpc-web") ?? false;
      const deadline: [string, string] = isGrpcWeb
        ? ["grpc-timeout", `${TIMEOUT_MS}m`]
        : ["connect-timeout-ms", String(TIMEOUT_MS)];
      return [
        plain,
        { ...plain, headers: { ...headers, [deadline[0]]: deadline[1] }, isTimed: true },
      ];
    }),
  ),
);

/** What an answer is checked against, besides the request. */
interface Circumstances {
  readonly etag: string | undefined;
  /** Generations that the process had shown before. */
  readonly held: readonly number[];
  /** Whether copies may have looked damaged or missing. */
  readonly sawDamage: boolean;
}

/** Clients over raw HTTP, that check every answer. */
export class Clients {
  readonly served = new Map<string, Served>();
  /** Answers that only a manifest which names an older version explains. */
  readonly older: Older[] = [];
  readonly check = new AnswerCheck(FEWEST_AIRPORTS);
  /** Successes whose bodies were as they should be, to the byte. */
  checked = 0;
  readonly #service: Service;
  readonly #report: Report;
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #etags = new Map<ChaosRequest, string>();
  /** Generations that answers of one life of the process have shown. */
  #shown = { life: 0, generations: new Set<number>() };

  /** @param port that of the Worker, where two serve. */
  constructor(service: Service, report: Report, port = service.port) {
    this.#service = service;
    this.#report = report;
    this.#port = port;
  }

  /** One client, until the time is over. */
  async callUntil(endAt: number, random: Random): Promise<void> {
    while (Date.now() < endAt) {
      await this.call(random.pick(REQUESTS), random.chance(0.3));
      await sleep(random.between(0, REST_MS));
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Sends a request and checks the answer. Returns the served generation, if any. */
  async call(request: ChaosRequest, ifChanged = false): Promise<number | undefined> {
    const etag = ifChanged && request.method !== "POST" ? this.#etags.get(request) : undefined;
    const sentAt = Date.now();
    const held = [...this.#generations()];
    try {
      const answer = await this.#send(request, etag);
      const sawDamage = this.#service.mayHaveSeenDamage(sentAt);
      return this.#check(request, answer, { etag, held, sawDamage });
    } catch (cause) {
      await sleep(SETTLE_MS);
      if (this.#service.wasDead(sentAt, Date.now()))
        this.#report.count("answers", "none: process dead");
      else this.#violate("answers", request, String(cause));
      return undefined;
    }
  }

  async #send(
    { method, path, headers, body }: ChaosRequest,
    etag: string | undefined,
  ): Promise<WireAnswer> {
    const sent = httpRequest({
      host: "127.0.0.1",
      port: this.#port,
      agent: this.#agent,
      method,
      path,
      headers: { ...headers, ...(etag !== undefined && { "if-none-match": etag }) },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    sent.end(method === "POST" ? body : undefined);
    const [response] = (await once(sent, "response")) as [IncomingMessage]; // the event's signature
    const header = (name: string) => response.headers[name]?.toString();
    return { status: response.statusCode ?? 0, header, body: await buffer(response) };
  }

  #check(
    request: ChaosRequest,
    answer: WireAnswer,
    { etag, held, sawDamage }: Circumstances,
  ): number | undefined {
    const error = readError(answer, request.method);
    if (error !== undefined) {
      const refused = refuseError(error, { request, sawDamage });
      this.#report.count("answers", `error ${error.code}`);
      if (refused !== undefined) this.#violate("answers", request, refused);
      return undefined;
    }
    if (request.locale === MALFORMED) {
      this.#violate("answers", request, `status ${answer.status} for a malformed locale`);
      return undefined;
    }
    this.#report.count("answers", `${answer.status}`);
    try {
      this.#checkSuccess(request, answer, etag);
    } catch (cause) {
      this.#violate("I1", request, String(cause));
    }
    const generation = Number(answer.header("catalog-version"));
    this.#checkGeneration(request, generation, held);
    return generation;
  }

  #checkSuccess(request: ChaosRequest, answer: WireAnswer, etag: string | undefined): void {
    const { status, header } = answer;
    if (status === 304 && header("etag") !== etag) throw new Error("304 for another tag");
    if (status !== 304 && request.method !== "HEAD") {
      this.check.check(answer);
      this.checked++;
    }
    if (request.method === "GET") this.#etags.set(request, header("etag") ?? "");
    const served: Served = {
      generation: Number(header("catalog-version")),
      wanted: request.locale,
      locale: header("content-language") ?? "",
      messageSha256: header("catalog-sha256") ?? "",
      tag: header("etag")?.replaceAll('"', "") ?? "",
      request: describe(request),
    };
    const { generation, wanted, locale, messageSha256, tag } = served;
    this.served.set([generation, wanted, locale, messageSha256, tag].join(" "), served);
  }

  /**
   * An isolate goes back only to the previous version, if the blobs of the present one are unreadable:
   * the previous one by number, the one that it held before, or the one that its manifest names, which
   * is looked up when all manifests are known.
   */
  #checkGeneration(request: ChaosRequest, generation: number, held: readonly number[]): void {
    this.#generations().add(generation);
    const [newest = 0, before = 0] = held.toSorted((a, b) => b - a);
    if (generation < newest) this.#report.count("answers", "of the version before");
    const oldest = Math.min(newest - 1, before);
    if (generation < oldest) this.older.push({ generation, held, request: describe(request) });
  }

  #generations(): Set<number> {
    const { life } = this.#service;
    if (this.#shown.life !== life) this.#shown = { life, generations: new Set() };
    return this.#shown.generations;
  }

  #violate(invariant: string, request: ChaosRequest, what: string): void {
    this.#report.violate({ invariant, what: `${what}\n  ${describe(request)}` });
  }
}

function describe({ method, path, headers, locale }: ChaosRequest): string {
  return `${method} ${path} ${JSON.stringify(headers)} locale "${locale}"`;
}
