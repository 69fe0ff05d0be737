/** The real script and the real wrangler; Cloudflare's API and the service are fakes. */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CRON_JOBS } from "../../../src/schedule.ts";
import { DeployWorld } from "../../builders/deploy-world.ts";
import type { Fault } from "../../builders/fake-cloudflare.ts";
import { fakeService } from "../../builders/fake-service.ts";
import { freePort } from "../../system/running-service.ts";

/** Each runs wrangler some three times. */
const HANG_MS = 600_000;
const TOKEN = "the-admin-token-of-this-test";
const WITH_TOKEN = { env: { ADMIN_TOKEN: TOKEN } };

let world: DeployWorld;
beforeEach(async () => void (world = await DeployWorld.start()));
afterEach(() => world.stop());

/** Calls with a service of the fake's account, where an upload is served. */
async function withService<T>(
  options: Omit<Parameters<typeof fakeService>[0], "token">,
  use: (service: Awaited<ReturnType<typeof fakeService>>) => Promise<T>,
): Promise<T> {
  const service = await fakeService({ token: TOKEN, ...options });
  try {
    return await use(service);
  } finally {
    await service.stop();
  }
}

const worker = (name = "locations") => world.cloudflare.account.workers.get(name);
const secrets = (name?: string) =>
  worker(name)?.deployed?.bindings.filter(({ type }) => type === "secret_text");

describe("npm run deploy", () => {
  it(
    "creates everything, publishes and says where it is served, and upgrades the next time",
    () =>
      withService({ deaf: 1 }, async (service) => {
        const { account } = world.cloudflare;
        const deploy = () =>
          world.deploy(["--env=staging"], { ...WITH_TOKEN, workersDev: service.url });
        const first = await deploy();
        expect(first).toMatchObject({ code: 0, stderr: "" });
        expect(first.stdout).toContain("Catalog published.");
        expect(first.stdout).toContain(
          "Serving 3 airports, 2 cities, 1 countries, 1 regions at https://locations-staging.ada.workers.dev",
        );
        for (const name of ["ALERT_WEBHOOKS", "ALERT_PING_URL"])
          expect(first.stdout).toContain(`npx wrangler secret put ${name} --env staging`);
        const made = {
          namespaces: [expect.objectContaining({ title: "locations-staging-catalog" })],
          databases: [expect.objectContaining({ name: "locations-staging-history" })],
          buckets: ["locations-staging-archive", "locations-staging-backups"],
        };
        expect(account).toMatchObject(made);
        expect([...account.workers.keys()]).toEqual(["locations-staging"]);
        expect(worker("locations-staging")).toMatchObject({
          crons: Object.keys(CRON_JOBS),
          isAtWorkersDev: true,
        });
        const sha256 = createHash("sha256").update(TOKEN).digest("hex");
        const [secret] = secrets("locations-staging") ?? [];
        expect(JSON.parse(secret?.text ?? "")).toEqual([
          { id: "operator", sha256, scopes: ["read", "operate"] },
        ]);
        const sent = world.cloudflare.bodies.join("");
        expect(sent + first.stdout).not.toContain(TOKEN);

        expect(await deploy()).toMatchObject({ code: 0, stderr: "" });
        expect(account).toMatchObject(made);
        expect(secrets("locations-staging")).toEqual([secret]);
        expect(service.requests.filter((request) => request.startsWith("POST /admin"))).toEqual([
          "POST /admin/ingest/queue",
          "POST /admin/ingest/queue",
        ]);
      }),
    HANG_MS,
  );

  it(
    "queues no ingest without the token, and waits for the one that the service queues by itself",
    () =>
      withService({ publishesAfter: 4 }, async (service) => {
        const options = { workersDev: service.url };
        const broken = { status: 500, code: 10013, message: "an unknown error has occurred" };
        world.cloudflare.faultOf = (route) => (route.endsWith("/schedules") ? broken : undefined);
        const first = await world.deploy([], { ...options, isTerminal: true });
        expect(first.code).toBe(1);
        expect(first.stdout).toContain("Admin token, shown only this once");
        expect(first.stdout).toContain("Run the same command again");

        world.cloudflare.faultOf = () => undefined;
        const second = await world.deploy([], { ...options, isTerminal: true });
        expect(second.code).toBe(0);
        expect(second.stdout).not.toContain("shown only this once");
        expect(second.stdout).toContain("Waiting for the first ingest");
        expect(second.stdout).toContain("Serving 3 airports");
        const third = await world.deploy([], options);
        expect(third).toMatchObject({ code: 0, stderr: "" });
        expect(third.stdout).toContain("No ADMIN_TOKEN was given");
        expect(service.requests.some((request) => request.includes("/admin/"))).toBe(false);
      }),
    HANG_MS,
  );

  it(
    "says why the ingest failed, and how to queue another",
    () =>
      withService({ ingest: "failed" }, async (service) => {
        const options = { ...WITH_TOKEN, workersDev: service.url };
        const { code, stderr } = await world.deploy([], options);
        expect(code).toBe(1);
        expect(stderr).toContain("airports 9074 to 4120 (guard_shrink)");
        expect(stderr).toContain("POST https://locations.ada.workers.dev/admin/ingest/queue");
      }),
    HANG_MS,
  );
});

it(
  "npm run deploy ends at an interrupt, and says so by its exit code",
  async () => {
    const workersDev = `http://127.0.0.1:${await freePort()}`;
    const until = "Waiting for https://locations.ada.workers.dev";
    const { code, stdout, stderr } = await world.deploy([], { ...WITH_TOKEN, workersDev, until });
    expect({ code, stderr }).toEqual({ code: 130, stderr: "" });
    expect(stdout).toContain("Stopping …");
  },
  HANG_MS,
);

describe("npm run deploy, when Cloudflare refuses it,", () => {
  const internal = { status: 500, code: 10013, message: "an unknown error has occurred" };
  const login = { status: 401, code: 10000, message: "Authentication error" };
  const UPLOAD = "PUT /workers/scripts/:name";
  const LOOK = "GET /workers/scripts/:name/secrets";

  it.each<[name: string, route: string, fault: Fault, says: RegExp[]]>([
    ["an error of Cloudflare's own", UPLOAD, internal, [/unknown error/, /answered error 10013/]],
    [
      "such an error before the deployment",
      LOOK,
      internal,
      [/unknown error/, /Nothing was deployed/],
    ],
    ["a page instead of an answer", UPLOAD, "html", [/Bad gateway/, /cloudflarestatus/]],
    ["such a page before the deployment", LOOK, "html", [/Bad gateway/, /cloudflarestatus/]],
    ["a token that is unknown", LOOK, login, [/Authentication error/, /wrangler login/]],
  ])(
    "repeats the complaint and says what to do: %s",
    async (_, route, fault, says) => {
      world.cloudflare.faultOf = (asked) => (asked === route ? fault : undefined);
      const { code, stdout, stderr } = await world.deploy([], WITH_TOKEN);
      expect(code).toBe(1);
      for (const text of says) expect(`${stdout}${stderr}`).toMatch(text);
      expect(stderr).not.toMatch(/Paid plan|enabled once/);
      expect(stderr).not.toContain("    at ");
      expect(world.cloudflare.account.workers.size).toBe(0);
    },
    HANG_MS,
  );

  it(
    "names each thing that the account lacks, and continues when it is there",
    () =>
      withService({}, async (service) => {
        const { account } = world.cloudflare;
        const lacks = [
          [{ subdomain: undefined }, "workers/onboarding"],
          [{ isPaid: false }, "needs the Workers Paid plan"],
          [{ isR2Enabled: false }, "R2 has to be enabled once"],
        ] as const;
        Object.assign(account, ...lacks.map(([lack]) => lack));
        for (const [lack, says] of lacks) {
          const { code, stderr } = await world.deploy([], WITH_TOKEN);
          expect(code).toBe(1);
          expect(stderr).toContain(says);
          const now = { subdomain: "ada", isR2Enabled: true, isPaid: true };
          for (const key of Object.keys(lack) as (keyof typeof now)[])
            Object.assign(account, { [key]: now[key] });
        }
        const options = { ...WITH_TOKEN, workersDev: service.url };
        expect(await world.deploy([], options)).toMatchObject({ code: 0, stderr: "" });
        expect(account.namespaces).toHaveLength(1);
      }),
    HANG_MS,
  );

  it(
    "says how to log in when nobody is logged in",
    async () => {
      const { code, stderr } = await world.deploy([], {
        env: { ADMIN_TOKEN: TOKEN, CLOUDFLARE_API_TOKEN: "" },
      });
      expect(code).toBe(1);
      expect(stderr).toContain("npx wrangler login");
      expect(stderr).not.toContain("    at ");
    },
    HANG_MS,
  );
});

describe("npm run deploy, before it changes anything,", () => {
  const TERMS = /--replace-domain/;

  it.each<[name: string, args: string[], env: object, says: RegExp]>([
    ["refuses to take a domain unasked", ["--domain=a.example.com"], WITH_TOKEN.env, TERMS],
    ["asks for a token", [], {}, /ADMIN_TOKEN/],
    ["refuses a short token", [], { ADMIN_TOKEN: "short" }, /20 to 512 visible ASCII characters/],
    ["refuses a wrong domain", ["--domain=https://a"], {}, /--domain must be a host/],
    ["refuses a wrong environment", ["--env=production"], {}, /--env must be staging/],
    ["refuses a wrong option", ["--dry"], {}, /Unknown option '--dry'[^]*Usage: npm run deploy/],
    ["stops at a failed check", [], { NPM_EXIT: "2" }, /Nothing was deployed/],
  ])(
    "%s",
    async (_, args, env, says) => {
      const { code, stderr } = await world.deploy(args, { env: { ...env } });
      expect(code).toBe(1);
      expect(stderr).toMatch(says);
      expect(stderr).not.toContain("    at ");
      expect(world.cloudflare.changes).toEqual([]);
    },
    HANG_MS,
  );

  it(
    "stops at a Worker of its name that may be another service",
    async () => {
      const file = world.file("secrets.json", JSON.stringify({ ADMIN_TOKENS: "[]" }));
      expect((await world.wrangler("deploy", `--secrets-file=${file}`)).code).toBe(0);
      const changes = [...world.cloudflare.changes];
      for (const version of worker()?.versions ?? [])
        Object.assign(version, {
          bindings: version.bindings.filter(({ name }) => name !== "ADMIN_TOKENS"),
        });
      const { code, stderr } = await world.deploy([], WITH_TOKEN);
      expect(code).toBe(1);
      expect(stderr).toContain("may be another service");
      expect(world.cloudflare.changes).toEqual(changes);
    },
    HANG_MS,
  );

  it(
    "checks and builds in a dry run, without any account",
    async () => {
      const env = { CLOUDFLARE_API_TOKEN: "" };
      const { code, stdout } = await world.deploy(["--dry-run", "--env=staging"], { env });
      expect(code).toBe(0);
      expect(stdout).toContain("locations-staging-history");
      expect(stdout).toContain("nothing was deployed");
      expect(world.cloudflare.bodies).toEqual([]);
    },
    HANG_MS,
  );

  it("explains its options", async () => {
    const { code, stdout } = await world.deploy(["--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain("Usage: npm run deploy");
  });
});
