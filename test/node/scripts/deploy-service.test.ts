import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { describePlan, planDeployment } from "../../../scripts/deploy-plan.ts";
import { configFileName } from "../../../scripts/deploy-service.ts";
import { type Address, readTarget } from "../../../scripts/deploy-target.ts";
import { type DeployWorld, deployWorld } from "../../builders/deploy-world.ts";

/** Against a fake of wrangler and a fake of the deployed Worker. */
const opened: DeployWorld[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((world) => world.remove()));
});

/** Files of deployments that this process has not removed. */
function leftovers(): string[] {
  const { pid } = process;
  return readdirSync(".").filter(
    (name) => name.startsWith(".wrangler-deploy-") && name.includes(String(pid)),
  );
}

async function open(...options: Parameters<typeof deployWorld>): Promise<DeployWorld> {
  const world = await deployWorld(...options);
  opened.push(world);
  return world;
}

/** Enough for a dozen processes on a busy machine. */
const PROCESSES_MS = 300_000;

/** Slower, but with what only processes have: arguments, variables, exit codes, an output file. */
function asProcesses() {
  return { processes: new AbortController().signal };
}

/** The first words of each command, without its options. */
function commands({ wrangler }: DeployWorld): string[] {
  return wrangler.calls().map(({ args }) => {
    const options = args.findIndex((arg) => arg.startsWith("--"));
    return args.slice(0, options === -1 ? args.length : options).join(" ");
  });
}

function shownToken({ said }: DeployWorld): string {
  const [, token = ""] = /shown this once; keep it well:\s+(\S+)/.exec(said.join("\n")) ?? [];
  return token;
}

const AT_A_DOMAIN = { kind: "domain", domain: "loc.example.com" } as const;

const A_TOKEN = "a-token-that-was-given-by-hand";

describe("the first deployment", () => {
  it(
    "makes what is missing, migrates, uploads and publishes, in this order",
    async () => {
      const world = await open(asProcesses());
      const deployed = await world.deploy({ typed: "" });
      expect(commands(world)).toEqual([
        "whoami",
        "deploy",
        "secret list",
        "kv namespace list",
        "kv namespace create locations-catalog",
        "kv namespace list",
        "d1 list",
        "d1 create locations-history",
        "d1 list",
        "d1 migrations apply HISTORY",
        "deploy",
      ]);
      expect(world.wrangler.account()).toMatchObject({
        namespaces: [{ title: "locations-catalog" }],
        databases: [{ name: "locations-history" }],
        buckets: ["locations-archive", "locations-backups"],
        workers: { locations: ["ADMIN_TOKENS"] },
        applied: { "d1-of-locations-history": 1 },
      });
      expect(deployed).toMatchObject({ url: world.service.url, health: { version: 1 } });
      expect(world.service.requests).toContain("POST /admin/ingest/queue");
    },
    PROCESSES_MS,
  );

  it("gives the Worker what it found and made, and nothing else of the account", async () => {
    const world = await open();
    await world.deploy({ typed: "", environment: "staging" });
    const uploaded = world.wrangler.calls().at(-1);
    expect(uploaded?.config).toMatchObject({
      env: {
        staging: {
          name: "locations-staging",
          workers_dev: true,
          kv_namespaces: [{ binding: "CATALOG", id: "kv-of-locations-staging-catalog" }],
          d1_databases: [{ binding: "HISTORY", database_id: "d1-of-locations-staging-history" }],
        },
        production: { kv_namespaces: [{ binding: "CATALOG" }] },
      },
    });
    expect(JSON.stringify(uploaded?.config)).not.toContain("kv-of-locations-catalog");
  });

  it(
    "shows the token once and gives it to no process, only its hash in a file for its owner",
    async () => {
      const world = await open(asProcesses());
      await world.deploy({ typed: "" });
      const token = shownToken(world);
      expect(token).toMatch(/^[\w-]{43}$/);
      expect(world.said.join("\n").split(token)).toHaveLength(2);
      const calls = world.wrangler.calls();
      expect(JSON.stringify(calls)).not.toContain(token);
      expect(calls.at(-1)?.secretsFileMode).toBe(0o600);
      const file = calls.at(-1)?.args.at(-1) ?? "";
      expect(file).toMatch(/secrets\.json$/);
      expect(existsSync(file)).toBe(false);
    },
    PROCESSES_MS,
  );

  it(
    "takes a given token, which it does not show, and keeps it from wrangler's environment",
    async () => {
      const world = await open(asProcesses());
      process.env["ADMIN_TOKEN"] = A_TOKEN;
      try {
        await world.deploy({ token: { given: A_TOKEN } });
      } finally {
        delete process.env["ADMIN_TOKEN"];
      }
      expect(world.said.join("\n")).not.toContain(A_TOKEN);
      expect(world.wrangler.calls().filter(({ env }) => env.includes(A_TOKEN))).toEqual([]);
      expect(world.service.requests).toContain("POST /admin/ingest/queue");
    },
    PROCESSES_MS,
  );

  it("writes a new token into the file that is named, for its owner, and finds it there again", async () => {
    const world = await open();
    const folder = mkdtempSync(join(tmpdir(), "locations-token-"));
    const file = join(folder, "token");
    try {
      await world.deploy({ token: { file } });
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const token = readFileSync(file, "utf8").trim();
      expect(world.said.join("\n")).not.toContain(token);
      const { health } = await world.deploy({ token: { file } });
      expect(health.version).toBe(2);
      expect(readFileSync(file, "utf8").trim()).toBe(token);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("calls the host at workers.dev that wrangler reports, or the domain that was asked for", async () => {
    const world = await open();
    await world.deploy({ typed: "" });
    await world.deploy({ address: AT_A_DOMAIN, typed: "", confirms: true });
    expect(world.hosts).toEqual(["locations.ada.workers.dev", "loc.example.com"]);
    expect(world.wrangler.calls().at(-1)?.config).toMatchObject({
      env: { production: { routes: [{ pattern: "loc.example.com", custom_domain: true }] } },
    });
  });

  it("says that it knows no host where the routes are patterns only", async () => {
    const world = await open();
    const deployment = world.deploy({ typed: "", address: { kind: "configured" } });
    await expect(deployment).rejects.toThrow(/at no host that could be called.*schedule/);
  });

  it("waits for an address that does not answer sensibly at first", async () => {
    const world = await open({ deaf: 5 });
    expect((await world.deploy({ typed: "" })).health.version).toBe(1);
  });

  it("stops before it makes anything where a new token would end up in a log", async () => {
    const world = await open();
    await expect(world.deploy()).rejects.toThrow("--token-file");
    expect(commands(world)).toEqual(["whoami", "deploy", "secret list"]);
  });

  it.each(["short", "with spaces in it, and long enough", "ümläütümläütümläütümläüt"])(
    "refuses a token that the Worker could not take: %s",
    async (given) => {
      const world = await open();
      await expect(world.deploy({ token: { given } })).rejects.toThrow("20 to 512 visible ASCII");
      expect(world.wrangler.account().namespaces).toEqual([]);
    },
  );
});

describe("a custom domain", () => {
  const warning =
    /^loc\.example\.com may serve something already: its DNS record, .* another Worker/;

  it("is taken if the question on the terminal is answered with yes, each time", async () => {
    const world = await open();
    await world.deploy({ address: AT_A_DOMAIN, typed: "", confirms: true });
    await world.deploy({ address: AT_A_DOMAIN, typed: shownToken(world), confirms: true });
    expect(world.asked).toEqual([expect.stringMatching(warning), expect.stringMatching(warning)]);
  });

  it("is left alone if it is answered with no, and nothing is made", async () => {
    const world = await open();
    const deployment = world.deploy({ address: AT_A_DOMAIN, typed: "", confirms: false });
    await expect(deployment).rejects.toThrow(/Nothing was deployed.*--domain/);
    expect(commands(world)).toEqual(["whoami"]);
  });

  it("is not taken without a terminal, unless the command line says so", async () => {
    const world = await open();
    const run = { address: AT_A_DOMAIN, token: { given: A_TOKEN } };
    await expect(world.deploy(run)).rejects.toThrow(/may serve something.*--replace-domain/s);
    expect(commands(world)).toEqual(["whoami"]);
    const { health } = await world.deploy({ ...run, consent: { replaceDomain: true } });
    expect(health.version).toBe(1);
    expect(world.asked).toEqual([]);
  });

  it("is asked about also where wrangler.toml has it, and named in the plan", () => {
    const target = { ...readTarget("production"), routedDomains: ["loc.example.com"] };
    const files = { configFile: "CONFIG", secretsFile: "SECRETS" };
    const planned = (address: Address) =>
      planDeployment(target, { address, ...files }).map(({ what }) => what);
    const step = expect.stringMatching(/--replace-domain.*loc\.example\.com.*are replaced/);
    expect(planned({ kind: "configured" })).toContainEqual(step);
    expect(planned({ kind: "workers.dev" })).toContainEqual(step);
  });
});

describe("a Worker of the same name", () => {
  it.each([[[]], [["STRIPE_KEY"]]])(
    "is left alone where its secrets are %j, and nothing is made or migrated",
    async (secrets) => {
      const world = await open();
      world.wrangler.change({ workers: { locations: secrets } });
      await expect(world.deploy({ typed: "" })).rejects.toThrow(
        /Worker locations already.*\[env\.production\].*another name.*Access.*--replace-worker/s,
      );
      expect(commands(world)).toEqual(["whoami", "deploy", "secret list"]);
      expect(world.wrangler.account().workers).toEqual({ locations: secrets });
      expect(shownToken(world)).toBe("");
    },
  );

  it("is upgraded if the command line says so, and known the next time", async () => {
    const world = await open();
    world.wrangler.change({ workers: { locations: [] } });
    await world.deploy({ typed: "", consent: { replaceWorker: true } });
    expect(world.wrangler.account().workers).toEqual({ locations: ["ADMIN_TOKENS"] });
    expect((await world.deploy({ typed: shownToken(world) })).health.version).toBe(2);
  });

  it("is this service where it has another of its secrets", async () => {
    const world = await open();
    world.wrangler.change({ workers: { locations: ["ALERT_PING_URL"] } });
    expect((await world.deploy({ typed: "" })).health.version).toBe(1);
  });
});

describe("a new token on the terminal", () => {
  it("is not shown before it is set: a deployment that fails earlier shows none", async () => {
    const world = await open();
    const notEnabled = "Please enable R2 through the Cloudflare Dashboard. [code: 10042]";
    world.wrangler.change({ failures: { "deploy --env": notEnabled } });
    await expect(world.deploy({ typed: "" })).rejects.toThrow("code: 10042");
    expect(world.said.join("\n")).not.toContain("Admin token");
    world.wrangler.change({ failures: {} });
    await world.deploy({ typed: "" });
    expect(world.said.join("\n").split("shown this once")).toHaveLength(2);
    expect((await world.deploy({ typed: shownToken(world) })).health.version).toBe(2);
  });

  it("is shown before the service answers, so that one that never does takes it from nobody", async () => {
    const world = await open({ deaf: Number.POSITIVE_INFINITY });
    await expect(world.deploy({ typed: "" })).rejects.toThrow("does not answer as it should");
    const token = shownToken(world);
    expect(token).not.toBe("");
    const shownAt = world.said.findIndex((line) => line.includes(token));
    expect(shownAt).toBe(world.said.findIndex((line) => line.startsWith("Waiting for")) - 1);
  });

  it("is shown where it is set though wrangler failed after that", async () => {
    const world = await open();
    world.wrangler.change({ triggerFailure: "Could not find zone for `loc.example.com`" });
    await expect(world.deploy({ typed: "" })).rejects.toThrow("is uploaded");
    world.wrangler.change({ triggerFailure: "" });
    expect((await world.deploy({ typed: shownToken(world) })).health.version).toBe(1);
  });

  it("is shown as one that may be set where it is to replace others and the upload failed", async () => {
    const world = await open();
    await world.deploy({ token: { given: A_TOKEN } });
    world.wrangler.change({ failures: { "deploy --env": "fetch failed" } });
    const deployment = world.deploy({ typed: "", token: { replace: true } });
    await expect(deployment).rejects.toThrow("fetch failed");
    expect(shownToken(world)).not.toBe("");
    expect(world.said.join("\n")).toContain("It may be set although the upload did not end well");
  });
});

describe("the next deployment", () => {
  it("upgrades: it makes nothing anew, sets no secret and asks for the token", async () => {
    const world = await open();
    await world.deploy({ typed: "" });
    const before = world.wrangler.account();
    const token = shownToken(world);
    const calls = world.wrangler.calls().length;
    const { health } = await world.deploy({ typed: token });
    expect(health.version).toBe(2);
    const upgrade = world.wrangler.calls().slice(calls);
    expect(upgrade.filter(({ args }) => args.includes("create"))).toEqual([]);
    expect(upgrade.filter(({ secrets }) => secrets !== null)).toEqual([]);
    expect(world.wrangler.account()).toEqual({
      ...before,
      applied: { "d1-of-locations-history": 2 },
    });
    expect(shownToken(world)).toBe(token);
  });

  it("queues no ingest without the token where a catalog is served, and says so", async () => {
    const world = await open();
    await world.deploy({ typed: "" });
    const requests = world.service.requests.length;
    await world.deploy();
    expect(world.said.join("\n")).toContain("no ingest is queued");
    expect(world.service.requests.slice(requests)).toEqual(["GET /catalog/health"]);
  });

  it("fails without the token where nothing is served yet", async () => {
    const world = await open();
    await world.deploy({ typed: "" }).catch(() => undefined);
    const empty = await open();
    empty.wrangler.change(world.wrangler.account());
    await expect(empty.deploy()).rejects.toThrow(
      /nothing is published yet.*ADMIN_TOKEN.*--new-token/,
    );
  });

  it("replaces all tokens if asked to", async () => {
    const world = await open();
    await world.deploy({ typed: "" });
    await world.deploy({ token: { given: A_TOKEN, replace: true } });
    await expect(
      world.deploy({ token: { given: "the-token-that-was-there-before" } }),
    ).rejects.toThrow(/does not know this admin token.*--new-token/);
    expect((await world.deploy({ token: { given: A_TOKEN } })).health.version).toBe(3);
  });

  it("refuses to replace all tokens by the one that a file holds already", async () => {
    const world = await open();
    const folder = mkdtempSync(join(tmpdir(), "locations-token-"));
    const file = join(folder, "token");
    try {
      await world.deploy({ token: { file } });
      const calls = world.wrangler.calls().length;
      await expect(world.deploy({ token: { file, replace: true } })).rejects.toThrow(
        `${file} holds a token; remove it or name another`,
      );
      const later = world.wrangler.calls().slice(calls);
      expect(later.filter(({ secrets }) => secrets !== null)).toEqual([]);
      const old = readFileSync(file, "utf8");
      rmSync(file);
      await world.deploy({ token: { file, replace: true } });
      expect(readFileSync(file, "utf8")).not.toBe(old);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("says that a given token becomes the only one, where it replaces all", async () => {
    const world = await open();
    await world.deploy({ typed: "" });
    expect(world.said.join("\n")).not.toContain("the only one");
    await world.deploy({ token: { given: A_TOKEN, replace: true } });
    expect(world.said.join("\n")).toContain("the one in ADMIN_TOKEN becomes the only one");
  });

  it("goes on where one that broke off has stopped", async () => {
    const world = await open();
    world.wrangler.change({ failures: { "d1 create": "internal error [code: 10013]" } });
    await expect(world.deploy({ typed: "" })).rejects.toThrow(
      /D1 database locations-history could not be made.*internal error.*same command again/s,
    );
    world.wrangler.change({ failures: {} });
    expect((await world.deploy({ typed: "" })).health.version).toBe(1);
    expect(world.wrangler.account().namespaces).toHaveLength(1);
  });
});

describe("a deployment that fails", () => {
  it(
    "says how to log in",
    async () => {
      const world = await open(asProcesses());
      world.wrangler.change({ loggedIn: false });
      await expect(world.deploy()).rejects.toThrow(/npx wrangler login.*CLOUDFLARE_API_TOKEN/s);
      expect(commands(world)).toEqual(["whoami"]);
    },
    PROCESSES_MS,
  );

  it("asks which of several accounts is meant, and takes the one that is named", async () => {
    const world = await open();
    const accounts = ["one", "two"].map((id) => ({ id, name: `account ${id}` }));
    world.wrangler.change({ accounts });
    await expect(world.deploy()).rejects.toThrow(/CLOUDFLARE_ACCOUNT_ID.*two {2}account two/s);
    await expect(world.deploy({ account: "three" })).rejects.toThrow(/none of the accounts/);
    await world.deploy({ account: "two", typed: "" });
    expect(world.said.join("\n")).toContain("account: account two");
  });

  it("takes the named account on trust where a token cannot list any", async () => {
    const world = await open();
    world.wrangler.change({ accounts: [] });
    await expect(world.deploy()).rejects.toThrow("Set CLOUDFLARE_ACCOUNT_ID");
    await world.deploy({ account: "acc-9", typed: "" });
    expect(world.said.join("\n")).toContain("account: acc-9");
  });

  it("deploys nothing when the check or the build fails", async () => {
    const world = await open();
    const check = { ok: false, stdout: "", lastLines: "src/worker.ts(1,1): error TS1005" };
    await expect(world.deploy({ check })).rejects.toThrow("error TS1005");
    world.wrangler.change({ failures: { "deploy --dry-run": "Build failed with 1 error" } });
    await expect(world.deploy()).rejects.toThrow("Build failed with 1 error");
    expect(commands(world)).toEqual(["whoami", "whoami", "deploy"]);
  });

  it.each([
    ["kv namespace list", /"wrangler kv namespace list" gave no list.*rights/s],
    ["d1 list", /"wrangler d1 list --json" gave no list/],
    ["secret list", /Whether locations is deployed already could not be found out/],
    ["kv namespace create", /KV namespace locations-catalog could not be made/],
  ])("stops before anything is uploaded when this fails: %s", async (command, message) => {
    const world = await open();
    world.wrangler.change({ failures: { [command]: "Authentication error [code: 10000]" } });
    const deployment = world.deploy({ typed: "" });
    await expect(deployment).rejects.toThrow(message);
    await expect(deployment).rejects.toThrow("Authentication error [code: 10000]");
    expect(world.wrangler.account().workers).toEqual({});
  });

  it("does not upload when a migration fails", async () => {
    const world = await open();
    world.wrangler.change({ failures: { "d1 migrations": 'near "TABEL": syntax error' } });
    await expect(world.deploy({ typed: "" })).rejects.toThrow(/could not be applied.*TABEL/s);
    expect(world.wrangler.account().workers).toEqual({});
    expect(world.service.requests).toEqual([]);
  });

  it(
    "says what wrangler says when the upload fails, and leaves no secret on the disk",
    async () => {
      const world = await open(asProcesses());
      const message = "CPU limits are not supported for the Free plan [code: 100328]";
      world.wrangler.change({ failures: { "deploy --env": message } });
      await expect(world.deploy({ typed: "" })).rejects.toThrow(/Workers Paid plan.*code: 100328/s);
      const file = world.wrangler.calls().at(-2)?.args.at(-1) ?? "";
      expect(file).toMatch(/secrets\.json$/);
      expect(existsSync(file)).toBe(false);
      expect(world.service.requests).toEqual([]);
    },
    PROCESSES_MS,
  );

  it("says that a new Worker was not uploaded for want of a subdomain, and goes on when there is one", async () => {
    const world = await open();
    world.wrangler.change({ subdomain: null });
    const deployment = world.deploy({ token: { given: A_TOKEN } });
    await expect(deployment).rejects.toThrow(
      /was not uploaded.*no workers\.dev subdomain.*Workers & Pages.*again/s,
    );
    await expect(deployment).rejects.not.toThrow("Paid plan");
    world.wrangler.change({ subdomain: "ada" });
    expect((await world.deploy({ token: { given: A_TOKEN } })).health.version).toBe(1);
  });

  it(
    "says that the Worker is uploaded where only its address is missing",
    async () => {
      const world = await open(asProcesses());
      world.wrangler.change({ subdomain: null, workers: { locations: ["ADMIN_TOKENS"] } });
      const deployment = world.deploy({ token: { given: A_TOKEN, replace: true } });
      await expect(deployment).rejects.toThrow(
        /is uploaded, but it has no address yet.*no workers\.dev subdomain.*Workers & Pages.*again/s,
      );
      await expect(deployment).rejects.not.toThrow("Paid plan");
    },
    PROCESSES_MS,
  );

  it("says that the Worker is uploaded where its routes or schedules fail", async () => {
    const world = await open();
    world.wrangler.change({ triggerFailure: "Could not find zone for `loc.example.com`" });
    const deployment = world.deploy({ token: { given: A_TOKEN } });
    await expect(deployment).rejects.toThrow(/is uploaded, but not all of.*Could not find zone/s);
    await expect(deployment).rejects.not.toThrow("Paid plan");
  });

  it("gives the reason of an ingest that fails, and how to queue another", async () => {
    const world = await open({ ingest: "failed" });
    await expect(world.deploy({ typed: "" })).rejects.toThrow(
      /failed in stage guard: airports 9074 to 4120 \(guard_shrink\).*POST .*\/admin\/ingest\/queue/s,
    );
    expect(world.wrangler.account().workers).toHaveProperty("locations");
  });

  it.each([
    ["waits", 0],
    ["is under way", 2],
  ])("does not wait for an ingest that is paused while it %s", async (_, pausedAfter) => {
    const world = await open({ pausedAfter, generation: 7 });
    expect((await world.deploy({ typed: "" })).health.version).toBe(7);
    expect(world.said.join("\n")).toMatch(
      /Ingestion is paused: run run-1 .* POST http.*\/admin\/ingest\/resume/,
    );
  });

  it("names the address that never answers", async () => {
    const world = await open({ deaf: Number.POSITIVE_INFINITY });
    await expect(world.deploy({ typed: "" })).rejects.toThrow(
      `${world.service.url}/catalog/health does not answer as it should: status 404`,
    );
  });
});

it(
  "ends the command that runs, and cleans up, when it is interrupted",
  async () => {
    const controller = new AbortController();
    const world = await open({ processes: controller.signal });
    world.wrangler.change({ hangs: "deploy --env" });
    const deployment = world.deploy({ typed: "" });
    const outcome = deployment.catch(String);
    while (
      !commands(world).includes("d1 migrations apply HISTORY") ||
      commands(world).at(-1) !== "deploy"
    )
      await sleep(20);
    const secretsFile = world.wrangler.calls().at(-1)?.args.at(-1) ?? "";
    expect(existsSync(secretsFile)).toBe(true);
    controller.abort();
    expect(await outcome).toContain("could not be deployed");
    expect(leftovers()).toEqual([]);
    expect(existsSync(secretsFile)).toBe(false);
    expect(world.wrangler.account().workers).toEqual({});
    // The upload may have got through before it was broken off.
    expect(shownToken(world)).toMatch(/^[\w-]{43}$/);
    expect(world.said.join("\n")).toContain("It may be set");
  },
  PROCESSES_MS,
);

it("does nothing that its plan does not name", async () => {
  const world = await open();
  await world.deploy({ typed: "" });
  await world.deploy({ typed: shownToken(world) });
  const target = readTarget("production");
  const secretsFile = "SECRETS";
  const address = { kind: "workers.dev" } as const;
  const configFile = configFileName(target);
  const steps = planDeployment(target, { address, configFile, secretsFile });
  const plan = describePlan(target, address, steps);
  const run = world.wrangler.calls().map(({ args, secrets }) => {
    const line = secrets === null ? args : [...args.slice(0, -1), secretsFile];
    return `wrangler ${line.join(" ")}`;
  });
  expect(run.filter((line) => !plan.includes(line))).toEqual([]);
});
