import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AnswerCheck } from "../../bench/answer-check.ts";
import { Clients, REQUESTS } from "../chaos/clients.ts";
import type { StoredState } from "../chaos/evidence.ts";
import { Random } from "../chaos/random.ts";
import { Report } from "../chaos/report.ts";
import { buildService, type Deploy, type Service } from "../chaos/service.ts";
import { FEWEST_AIRPORTS, goodAirports, REGIONS_FILE } from "../chaos/upstream-files.ts";
import { isOpen } from "../../src/coordinator/jobs.ts";
import { CALL } from "../system/http.ts";
import { requestMessage } from "../system/wire.ts";

/** What `GET /admin/ingest/runs/{id}` answers, as far as it is looked at here. */
export interface RunAnswer {
  readonly id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly attempt: number;
  readonly stage: string | null;
  readonly progress: { readonly done: number };
  readonly generation_after: number | null;
  readonly error: { readonly code: string } | null;
}

type Vars = Parameters<Service["start"]>[0];

/** Bounds a hang only. */
const DEADLINE_MS = 900_000;
const POLL_MS = 10;
const LOCALES = { LOCALES: "en,de" };

/** The bundle in a process that is killed without warning, and started again on its storage. */
export class KilledService {
  readonly folder: string;
  readonly service: Service;
  /** Where its Worker serves. */
  readonly port: number;
  readonly #token: string;
  readonly #random: Random;

  private constructor(folder: string, service: Service, token: string, port = service.port) {
    this.folder = folder;
    this.service = service;
    this.#token = token;
    this.port = port;
    this.#random = new Random(port === service.port ? 1 : 2, "killed service");
  }

  /** Builds it. `restart` starts it. */
  static async build(): Promise<KilledService> {
    const folder = mkdtempSync(join(tmpdir(), "locations-killed-"));
    const token = randomBytes(32).toString("base64url");
    return new KilledService(folder, await buildService(folder, token), token);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The same service, called through the version of the Worker at another port. */
  through(port: number): KilledService {
    return new KilledService(this.folder, this.service, this.#token, port);
  }

  /** Kills it, if it runs, and starts it. */
  async restart(deploy?: Deploy, vars: Vars = {}): Promise<void> {
    await this.service.kill();
    await this.service.start({ ...LOCALES, ...vars }, deploy);
  }

  /** Ends it and forgets what it stored. */
  async remove(): Promise<void> {
    await this.service.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Calls an admin route, which must succeed. */
  async admin<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** Drops other airports and queues a run of them. Returns its id. */
  async publish(body: object = {}): Promise<string> {
    await this.service.control("drop?name=airports.csv", goodAirports(this.#random));
    await this.service.control("drop?name=regions.csv.gz", REGIONS_FILE);
    return this.queue({ source: "dropped", ...body });
  }

  async queue(body: object): Promise<string> {
    const { run } = await this.admin<{ run: RunAnswer }>("POST", "/admin/ingest/queue", body);
    return run.id;
  }

  runWhen(id: string, is: (run: RunAnswer) => boolean): Promise<RunAnswer> {
    return this.#when(`/admin/ingest/runs/${id}`, is);
  }

  jobWhen<J>(id: string, is: (job: J) => boolean): Promise<J> {
    return this.#when(`/admin/backup-jobs/${id}`, is);
  }

  /** Everything that is stored. */
  async state(): Promise<StoredState> {
    return (await this.service.control("state")) as StoredState; // our worker
  }

  /** Calls the service as a client. Checks the answer to the byte, and returns its generation. */
  async ask(contentType = "application/proto"): Promise<number> {
    const isJson = contentType.endsWith("json");
    const answer = await fetch(this.url + CALL, {
      method: "POST",
      headers: { "content-type": contentType, "accept-encoding": "identity" },
      body: isJson ? '{"locale":"de"}' : Uint8Array.from(requestMessage("de")),
    });
    new AnswerCheck(FEWEST_AIRPORTS).check({
      status: answer.status,
      header: (name) => answer.headers.get(name) ?? undefined,
      body: new Uint8Array(await answer.arrayBuffer()),
    });
    return Number(answer.headers.get("catalog-version"));
  }

  /** Lets clients call as long as something is done. Returns them and what they found wrong. */
  async callDuring(work: () => Promise<void>) {
    const report = new Report();
    const clients = new Clients(this.service, report, this.port);
    const random = new Random(1, "clients");
    const over = new AbortController();
    const calling = (async () => {
      while (!over.signal.aborted) await clients.call(random.pick(REQUESTS));
    })();
    try {
      await work();
    } finally {
      over.abort();
      await calling;
      clients.close();
    }
    return { clients, violations: report.violations };
  }

  async #when<T>(path: string, is: (answer: T) => boolean): Promise<T> {
    for (const deadline = Date.now() + DEADLINE_MS; ; await sleep(POLL_MS)) {
      const answer = await this.admin<T>("GET", path);
      if (is(answer)) return answer;
      if (Date.now() > deadline) throw new Error(`not in time: ${JSON.stringify(answer)}`);
    }
  }
}

/** Whether a run or a job has ended. */
export function hasEnded({ state }: { readonly state: string }): boolean {
  return !isOpen(state);
}
