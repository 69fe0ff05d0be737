import { describe, expect, it } from "vitest";
import { describeEnd, needsBackup, welcome } from "../../../scripts/welcome.ts";
import { callFailure } from "../../../src/rpc/errors.ts";

const url = "http://127.0.0.1:8787";
const WORKER = { url, logFile: "worker.log", wayOut: "npm start -- --fresh" };

const SERVED = { ok: true, generation: 3, counts: "2 airports, 1 cities" } as const;
const SILENCE = { ok: false, status: 0, code: null, problem: "no answer" } as const;
const NONE = unserved("nothing_published", "unavailable");
const LOST = unserved("data_loss", "data_loss");

/** What a call finds that the service refuses. */
function unserved(reason: Parameters<typeof callFailure>[0], code: string) {
  const problem = `${code}, ${callFailure(reason).rawMessage}`;
  return { ok: false, status: 503, code, problem } as const;
}

describe("the last message of npm start", () => {
  it("describes the served catalog", () => {
    const text = welcome(WORKER, "token", SERVED);
    expect(text).toContain(`Serving 2 airports, 1 cities at ${url}`);
    expect(text).toContain("curl -s --compressed");
  });

  it("does not claim that a damaged catalog is served, and names the remedy", () => {
    const text = welcome(WORKER, "token", LOST);
    expect(text).toContain(
      `Every call to ${url} fails: data_loss, every copy of the catalog is damaged`,
    );
    expect(text).toContain("restore the newest backup");
    expect(text).toContain("--fresh");
    expect(text).not.toContain("Serving");
  });

  it("names nothing as served if nothing is", () => {
    const end = { ok: false, reason: "failed", problem: "It is so." } as const;
    const text = (served: typeof SERVED | typeof NONE) =>
      describeEnd(end, { url, tokenFile: "token", served });
    expect(text(SERVED)).toContain("What was published before is served. To try again");
    expect(text(NONE)).not.toContain("is served");
  });

  it.each([
    ["paused", "resume"],
    ["failed", "queue"],
    ["stalled", "queue"],
  ] as const)("says after an ingest that %s how to %s", (reason, route) => {
    const end = { ok: false, reason, problem: "It is so." } as const;
    const text = describeEnd(end, { url, tokenFile: "token", served: SERVED });
    expect(text).toContain("It is so.");
    expect(text).toContain(`--json '{}' ${url}/admin/ingest/${route}`);
  });

  it("leads from the stores of another installation to a takeover, not to another run", () => {
    const end = { ok: false, reason: "failed", problem: "Theirs.", isForeign: true } as const;
    const text = describeEnd(end, { url, tokenFile: "token", served: SERVED });
    expect(text).toContain(`--json '{}' ${url}/admin/catalog/take-over`);
    expect(text).not.toContain("try again");
  });

  it("says how to publish a candidate that the guards refused", () => {
    const end = { ok: false, reason: "failed", problem: "It shrinks.", approvable: "r-1" } as const;
    expect(describeEnd(end, { url, tokenFile: "token", served: SERVED })).toContain(
      `--json '{"candidate_of":"r-1","force":true}' ${url}/admin/ingest/queue`,
    );
  });
});

describe("a start whose ingest has failed", () => {
  const failed = { ok: false, reason: "failed", problem: "It is so." } as const;

  it.each([
    ["there is no catalog", true, failed, NONE],
    ["there is none, but somebody can resume", false, { ...failed, reason: "paused" }, NONE],
    ["the catalog is damaged, but an earlier version may be whole", false, failed, LOST],
    ["the stores do not answer", false, failed, unserved("unavailable", "unavailable")],
    ["the service does not answer", false, failed, SILENCE],
  ] as const)("when %s, needs a backup: %s", (_, isNeeded, end, served) => {
    expect(needsBackup(end, served)).toBe(isNeeded);
  });
});
