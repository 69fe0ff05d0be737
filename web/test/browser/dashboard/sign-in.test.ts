import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, inject, it } from "vitest";
import manifest from "../../../../data/snapshot/manifest.json" with { type: "json" };
import { newPage, openPage, takeProblems, useBrowser } from "../browser.ts";
import { evaluateAlerts, firstRun, RUNS, signIn } from "./dashboard-page.ts";

useBrowser();
beforeAll(evaluateAlerts);

const AIRPORTS = manifest.counts.airports.toLocaleString("en");

describe("the dashboard's sign-in", () => {
  it("shows the health of the service to everybody, and everything else only with a token", async () => {
    const page = await openPage("/dashboard");
    await page
      .locator('[data-card="Is it served?"]', { hasText: `${AIRPORTS} airports` })
      .waitFor();
    const fresh = page.locator('[data-card="Is it fresh?"]');
    await fresh.locator("summary").click();
    await fresh.getByText("Last compared with its source").waitFor();
    await page
      .locator('[data-card="What happens next?"]', { hasText: "The next ingest" })
      .waitFor();
    await page.getByLabel("Operator’s token").waitFor();
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "History" }).count()).toBe(0);
  });

  it("asks for the token above the answers on a phone", async () => {
    const page = await openPage("/dashboard", { viewport: { width: 390, height: 844 } });
    const field = await page.getByLabel("Operator’s token").boundingBox();
    const answers = await page.getByLabel("At a glance").boundingBox();
    expect(field?.y).toBeLessThan(answers?.y ?? 0);
  });

  it("rejects an invalid token with a message, and accepts a valid one", async () => {
    const page = await openPage("/dashboard");
    await page.getByLabel("Operator’s token").fill("not-a-token");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("That token was not accepted.").waitFor();
    await page.getByLabel("Operator’s token").fill(inject("service").adminToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await firstRun(page).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(takeProblems().every((problem) => problem.includes("401"))).toBe(true);
  });

  it("keeps the token in this tab only and stores it nowhere else", async () => {
    const { adminToken, logFile } = inject("service");
    const page = await signIn();
    const urls: string[] = [];
    page.on("request", (request) => urls.push(request.url()));
    await page.reload();
    await firstRun(page).waitFor();
    expect(urls.join()).not.toContain(adminToken);
    expect(page.url()).not.toContain(adminToken);
    expect(await page.evaluate("JSON.stringify(localStorage) + document.cookie")).toBe("{}");
    expect(readFileSync(logFile, "utf8")).not.toContain(adminToken);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Operator’s token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });
});

describe("the dashboard without a valid token", () => {
  it("refuses a token that no header can carry, and stores none", async () => {
    const page = await openPage("/dashboard");
    await page.getByLabel("Operator’s token").fill("a-token-and-an-arrow→");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("A token has letters").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    await page.getByLabel("Operator’s token").fill(inject("service").adminToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await firstRun(page).waitFor();
  });

  it('forgets a token at "Sign out" when the service forbids the request that it was entered for', async () => {
    const page = await signIn();
    const problem = { type: "about:blank", status: 403, code: "forbidden", detail: "Not you." };
    await page.route(RUNS, (route) =>
      "authorization" in route.request().headers()
        ? route.fulfill({ status: 403, json: problem })
        : route.continue(),
    );
    await page.reload();
    await page.getByText("Not you.").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Operator’s token").waitFor();
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
    takeProblems();
  });

  it("asks for a token once, however many requests the service refuses", async () => {
    const page = await openPage("/docs");
    const requested: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).pathname));
    await page.evaluate("sessionStorage.setItem('locations.admin-token', 'expired')");
    await page.goto("/dashboard");
    const summaries = () => requested.filter((path) => path === "/dashboard/summary");
    await expect.poll(() => summaries().length).toBe(4);
    expect(requested.filter((path) => path.startsWith("/admin/"))).toEqual(["/admin/whoami"]);
    expect(takeProblems()).toEqual([expect.stringContaining("401")]);
  });

  it("needs none where Cloudflare Access signs in", async () => {
    const page = await newPage();
    const { adminToken } = inject("service");
    await page.route("/dashboard/summary", async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...(await answer.json()), access: true } });
    });
    await page.route(/\/admin\//, (route) =>
      route.continue({
        headers: { ...route.request().headers(), authorization: `Bearer ${adminToken}` },
      }),
    );
    await page.goto("/dashboard");
    await firstRun(page).waitFor();
    expect(await page.getByLabel("Operator’s token").count()).toBe(0);
  });

  it("says where to sign in while there is no session of Cloudflare Access", async () => {
    const page = await newPage();
    await page.route("/dashboard/summary", async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...(await answer.json()), access: true } });
    });
    const headers = { location: "https://team.cloudflareaccess.com/cdn-cgi/access/login" };
    await page.route(/\/admin\//, (route) => route.fulfill({ status: 302, headers }));
    await page.goto("/dashboard");
    const alert = await page.getByRole("alert").textContent();
    expect(alert).toContain("Open /admin/whoami in another tab");
  });

  it("asks for a token again after too many failures", async () => {
    const page = await openPage("/docs");
    const detail = "Too many requests without a valid credential.";
    const problem = { type: "about:blank", status: 429, code: "too_many_failures", detail };
    const whoami = "/admin/whoami";
    await page.route(whoami, (route) => route.fulfill({ status: 429, json: problem }));
    await page.evaluate("sessionStorage.setItem('locations.admin-token', 'expired')");
    await page.goto("/dashboard");
    await page.getByRole("alert").getByText(detail).waitFor();
    await page.unroute(whoami);
    await page.getByLabel("Operator’s token").fill(inject("service").adminToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await firstRun(page).waitFor();
    expect(takeProblems()).toEqual([expect.stringContaining("429")]);
  });

  it("says who is signed in, and offers a reader nothing that it may not do", async () => {
    const page = await signIn();
    await page.getByText("may operate").waitFor();
    const reader = { id: "viewer", scopes: ["read"], expires_at: "2099-01-01T00:00:00.000Z" };
    await page.route("**/admin/whoami", (route) => route.fulfill({ json: reader }));
    await page.reload();
    await page.getByText("viewer may only read, the token ends").waitFor();
    expect(await page.getByRole("button", { name: "Pause" }).count()).toBe(0);
  });
});
