import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it, vi } from "vitest";
import { openMonitor } from "../../src/monitor/durable-object.ts";
import { ALERTS_INSTANCE } from "../../src/platform/instances.ts";
import { SECRET_NAMES, SETTING_NAMES } from "../../src/monitor/settings.ts";

const CALL = "/locations.v1.LocationsService/GetLocationsV1";

/** Bindings of which every setting is wrong, as only Cloudflare's dashboard and secrets may set them. */
const wrongBindings = (value: unknown) =>
  ({
    ...env,
    ...Object.fromEntries([...SETTING_NAMES, ...SECRET_NAMES].map((name) => [name, value])),
  }) as Env;

afterEach(() => vi.restoreAllMocks());

it.each(["nonsense", "", "-1", "9".repeat(30), true, null])(
  "every setting being %j, requests are answered, and the log says once what is wrong",
  async (value) => {
    vi.resetModules();
    const log = vi.spyOn(console, "log").mockImplementation(() => {});
    const { default: worker } = await import("../../src/worker/worker.ts");
    const bindings = wrongBindings(value);
    const fetchIt = async (url: string, init?: RequestInit) =>
      worker.fetch(new Request(url, init as RequestInit<IncomingRequestCfProperties>), bindings);
    const ask = async (path: string, init: RequestInit = {}) => {
      const answer = await fetchIt(`http://localhost${path}`, init);
      await answer.text();
      return answer.status;
    };
    const headers = { "content-type": "application/json" };
    // Nothing is published here.
    for (let calls = 0; calls < 2; calls++)
      expect(await ask(CALL, { method: "POST", headers, body: "{}" })).toBe(503);
    expect(await ask("/credits")).toBe(200);
    expect(await ask("/admin/whoami")).toBe(503);
    const lines = log.mock.calls.join("\n");
    expect(lines.split('"event":"settings_wrong"')).toHaveLength(2);
    expect(lines).toContain("CACHE_MAX_BYTES must be");
    vi.resetModules(); // an isolate reads its settings once
  },
);

it("the monitor opens and evaluates, and names every setting that is wrong", async () => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  const stub = env.ALERTS.getByName(ALERTS_INSTANCE);
  const result = await runInDurableObject(stub, (_, ctx) =>
    openMonitor(ctx, { ...wrongBindings("nonsense"), ALERT_DATA_OLD: "1" } as Env).evaluate({
      trigger: "manual",
      requested_by: "test",
      tick: null,
    }),
  );
  const found = result.ok && result.run.results.find(({ rule }) => rule === "settings_wrong");
  expect(found).toMatchObject({ status: "warn", state: "firing" });
  const { message } = found || { message: "" };
  for (const name of ["CACHE_MAX_BYTES", "ALERT_WEBHOOKS", "ADMIN_TOKENS", "ALERT_DATA_OLD_MS"])
    expect(message).toContain(`${name} must`);
  expect(message).toContain("there is no setting ALERT_DATA_OLD;");
});
