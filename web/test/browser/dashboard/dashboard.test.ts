import type { Page, Route } from "playwright-core";
import { beforeAll, describe, expect, inject, it } from "vitest";
import {
  faultsInAllColors,
  newPage,
  openPage,
  seriousFaults,
  takeProblems,
  useBrowser,
} from "../browser.ts";
import {
  confirm,
  currentVersion,
  evaluateAlerts,
  FAILED,
  firstRun,
  RUNS,
  signIn,
} from "./dashboard-page.ts";

useBrowser();
beforeAll(evaluateAlerts);

const STATUS = /\/admin\/monitor\/status/;
/** The service's answers, with these details of what failed. */
const haveFailed = (page: Page, details: readonly { text: string; at: string | null }[]) =>
  page.route(/\/dashboard\/summary|\/admin\/monitor\/status/, async (route) => {
    const body = await (await route.fetch()).json();
    const failed = { status: "fail", details: details.map((given) => ({ ...given, links: [] })) };
    for (const answer of body.answers)
      if (answer.question === "failed") Object.assign(answer, failed);
    await route.fulfill({ json: body });
  });
/** Whether the focus is seen. */
const OUTLINE = "getComputedStyle(document.activeElement).outlineStyle";
/** How often the dashboard asks for the summary. */
const POLL_MS = 5_000;
const ONE_LINE_PX = 15;

it("shows during a pause that a run waits, unless its version is published", async () => {
  const page = await signIn();
  const pause = { paused: true, until: null };
  await page.route("**/admin/ingest/pause", (route) => route.fulfill({ json: pause }));
  await page.route(RUNS, async (route) => {
    const body = await (await route.fetch()).json();
    const [run] = body.runs;
    const halted = { ...run, id: "halted", state: "running", generation_after: null };
    const published = { ...run, id: "published", state: "running", generation_after: 2 };
    await route.fulfill({ json: { ...body, runs: [halted, published] } });
  });
  const halted = page.locator('[data-run="halted"]');
  await halted.getByText("the run waits until somebody resumes it").waitFor();
  expect(await halted.locator(".pill").textContent()).toBe("halted");
  const published = page.locator('[data-run="published"]');
  expect(await published.locator(".pill").textContent()).toBe("running");
});

describe("what the dashboard shows first", () => {
  it("keeps all answers on the first screen while much has failed", async () => {
    const page = await newPage({ viewport: { width: 1280, height: 800 } });
    const text = "a message that takes several lines of a narrow card. ".repeat(3);
    await haveFailed(
      page,
      Array.from({ length: 8 }, () => ({ text, at: null })),
    );
    await page.goto("/dashboard");
    const cards = page.locator("[data-card]");
    await cards.last().waitFor();
    for (const card of await cards.all()) expect((await card.boundingBox())?.y).toBeLessThan(760);
    expect(await cards.first().getAttribute("data-card")).toBe(FAILED);
  });

  it("has few problems share the width", async () => {
    const page = await newPage({ viewport: { width: 1280, height: 800 } });
    const text = "a message. ".repeat(30);
    await haveFailed(page, [
      { text, at: null },
      { text, at: null },
    ]);
    await page.goto("/dashboard");
    const problems = page.locator(`[data-card="${FAILED}"] li`);
    await problems.last().waitFor();
    for (const problem of await problems.all())
      expect((await problem.boundingBox())?.width).toBeGreaterThan(1280 / 3);
  });

  it.each([1280, 360])(
    "shows what failed first, also to a screen reader, at %i px",
    async (width) => {
      const page = await newPage({ viewport: { width, height: 800 } });
      await haveFailed(page, [{ text: "a problem", at: null }]);
      await page.goto("/dashboard");
      const cards = page.locator(".cards [data-card]");
      await cards.last().waitFor();
      expect(await cards.first().getAttribute("data-card")).toBe(FAILED);
      const boxes = await Promise.all((await cards.all()).map((card) => card.boundingBox()));
      const places = boxes.map((box) => (box?.y ?? 0) * width + (box?.x ?? 0));
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      // One problem takes no more room than the other answers.
      expect(new Set(boxes.map((box) => Math.round(box?.width ?? 0))).size).toBe(1);
    },
  );

  it("shows what is wrong and the section on the first screen of a phone", async () => {
    const [width, height] = [390, 844];
    const page = await signIn("", { viewport: { width, height } });
    const text = "a message that takes several lines of a narrow card. ".repeat(2);
    await haveFailed(
      page,
      Array.from({ length: 8 }, () => ({ text, at: null })),
    );
    for (const [hash, title] of Object.entries({ runs: "Ingest runs", held: "Held changes" })) {
      await page.goto(`/dashboard#${hash}`);
      await page.reload();
      const heading = page.getByRole("heading", { level: 2, name: title });
      await heading.waitFor();
      const box = await heading.boundingBox();
      expect((box?.y ?? Infinity) + (box?.height ?? 0), title).toBeLessThan(height);
      const problem = page.locator(`[data-card="${FAILED}"] li`).first();
      expect((await problem.boundingBox())?.y).toBeLessThan(height / 2);
    }
    const others = page.locator(`[data-card="${FAILED}"] details summary`);
    await others.click();
    await page.locator(`[data-card="${FAILED}"] li`).last().waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });

  it.each([390, 1280])("moves nothing while it loads, at %i px", async (width) => {
    const page = await signIn("", { viewport: { width, height: 844 } });
    await firstRun(page).waitFor();
    await page.addInitScript(`
      window.shifted = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.shifted += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
    `);
    await page.reload();
    await firstRun(page).waitFor();
    await page
      .getByRole("button", { name: "Pause", exact: false })
      .and(page.locator(":enabled"))
      .waitFor();
    expect(await page.evaluate("window.shifted")).toBeLessThan(0.02);
  });

  it("shows the service's five answers verbatim, with their links", async () => {
    const page = await signIn();
    const detail = { text: "No file.", at: null, links: [{ text: "Decide", href: "#held" }] };
    const at = new Date().toISOString();
    const answer = { question: "failed", status: "fail", at, answer: "1 problem" };
    const answers = [{ ...answer, details: [detail] }];
    await page.route(STATUS, (route) => route.fulfill({ json: { answers } }));
    const card = page.locator(`[data-card="${FAILED}"]`);
    await card.getByText("No file.").waitFor();
    expect(await card.getAttribute("class")).toContain("tone-bad");
    await card.getByRole("link", { name: "Decide" }).click();
    await page.getByRole("heading", { level: 2, name: "Held changes" }).waitFor();
  });

  it.each([
    ["pass", "✓"],
    ["warn", "!"],
    ["fail", "✕"],
  ])(
    "says %s of every card and problem by a word and a sign, also in high contrast",
    async (status, sign) => {
      const page = await newPage({ forcedColors: "active" });
      await page.route(/\/dashboard\/summary/, async (route) => {
        const body = await (await route.fetch()).json();
        const details = [{ text: "a problem", at: null, links: [], status }];
        for (const answer of body.answers) Object.assign(answer, { status, details });
        await route.fulfill({ json: body });
      });
      await page.goto("/dashboard");
      const cards = page.locator("[data-card]");
      await cards.nth(4).waitFor();
      for (const card of await cards.all()) {
        if ((await card.getAttribute("open")) === null) await card.locator("summary").click();
        const heard = await card.ariaSnapshot();
        expect(heard.match(new RegExp(`\\b${status}\\b`, "g")), heard).toHaveLength(2);
      }
      const signs = await page.evaluate<string[]>(
        `[...document.querySelectorAll("[data-card] .pill")].map((pill) => getComputedStyle(pill, "::before").content)`,
      );
      expect(signs).toHaveLength(10);
      for (const content of signs) expect(content).toContain(sign);
    },
  );

  it.each([1280, 1440])(
    "leaves more than half of a screen %i px wide to the sections",
    async (width) => {
      const page = await signIn("", { viewport: { width, height: 900 } });
      await firstRun(page).waitFor();
      const sections = await page.getByRole("navigation", { name: "Sections" }).boundingBox();
      expect(sections?.y).toBeLessThan(450);
    },
  );

  it("greys out the answers once the service is silent", async () => {
    const page = await newPage();
    await page.clock.install();
    await page.goto("/dashboard");
    const card = page.locator('[data-card="Is it served?"]');
    await card.waitFor();
    expect(await card.getAttribute("class")).toContain("tone-good");
    await page.route(/\/dashboard\/summary/, (route) => route.abort());
    await page.clock.runFor(POLL_MS);
    await card.getByText("not up to date").waitFor();
    expect(await card.getAttribute("class")).toContain("tone-quiet");
    takeProblems(); // The service is silent.
  });
});

describe("the dashboard's runs", () => {
  it("shows no stage as in progress of a run that has changed nothing", async () => {
    const page = await signIn();
    await page.route(/\/admin\/ingest\/runs\/[^/]+$/, async (route) => {
      const run = await (await route.fetch()).json();
      const ended = {
        ...run,
        state: "succeeded",
        outcome: "unchanged",
        stage: "guard",
        error: null,
      };
      await route.fulfill({ json: ended });
    });
    await firstRun(page).getByRole("link").click();
    const stages = page.locator(".details").getByRole("list", { name: "Stages" });
    await stages.waitFor();
    expect(await stages.locator(".is-done").count()).toBe(4);
    expect(await stages.locator(".is-current, [aria-current]").count()).toBe(0);
  });

  it("says how many changes a run holds, and leads to them", async () => {
    const page = await signIn();
    await page.route(/\/admin\/ingest\/runs\/[^/]+$/, async (route) => {
      const run = await (await route.fetch()).json();
      await route.fulfill({ json: { ...run, held: { waiting: 1868, added: 12 } } });
    });
    await firstRun(page).getByRole("link").click();
    const held = page.getByRole("link", { name: "1,868 changes, 12 of them new" });
    expect(await held.getAttribute("href")).toBe("#held");
  });

  /** Shows the newest run with these fields, in lists and on its own page. */
  const changeRuns = (page: Page, fields: object) =>
    page.route(/\/admin\/ingest\/runs/, async (route) => {
      const body = await (await route.fetch()).json();
      if (body.runs === undefined) return route.fulfill({ json: { ...body, ...fields } });
      const [first, ...others] = body.runs;
      return route.fulfill({ json: { ...body, runs: [{ ...first, ...fields }, ...others] } });
    });

  it.each([
    [null, "until somebody resumes it."],
    ["2099-01-01T00:00:00.000Z", "until the pause ends"],
  ])("says of a run that a pause holds until %s that it waits", async (until, end) => {
    const page = await signIn();
    await page.route("/admin/ingest/pause", (route) =>
      route.fulfill({ json: { paused: true, until } }),
    );
    const running = { state: "running", stage: "parse", generation_after: null };
    const unfinished = { ...running, duration_ms: null, finished_at: null };
    await changeRuns(page, { ...unfinished, stage_ms: { fetch: 2_000, parse: 1_000 } });
    const track = page.locator(".track");
    await track.getByText("halted").waitFor();
    expect(await track.textContent()).toContain(`the run waits ${end}`);
    expect(await track.locator(".track-top").textContent()).toContain("3 s");
    expect(await seriousFaults(page)).toEqual([]);
    await firstRun(page).getByText("halted").waitFor();
    await firstRun(page).getByRole("link").click();
    await page.locator(".details").getByText("the run waits").waitFor();
    await page.locator(".run-facts").getByText("halted").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  it.each([
    ["source_not_found", [], "/docs/alerts#source_broken"],
    ["internal", [], "/docs/alerts#ingest_failing"],
    [
      "guard_shrink",
      [{ guard: "guard_shrink", message: "too few" }],
      "/docs/operating#guards-refused-a-run",
    ],
  ])(
    "leads on from a run that failed with %s, and queues it again",
    async (code, guards, advice) => {
      const page = await signIn();
      const file = { sha256: "ab".repeat(32), bytes: 12_345, as_of: "2026-11-19" };
      await changeRuns(page, {
        state: "failed",
        mode: "full",
        source: "dropped",
        as_of: "2026-11-20",
        error: { code, stage: "fetch", message: "It is broken." },
        guards,
        catalog_sha256: "cd".repeat(32),
        upstream: { "airports.csv": file },
      });
      const sent: unknown[] = [];
      await page.route("**/admin/ingest/queue", (route) => {
        sent.push(route.request().postDataJSON());
        return route.fulfill({ json: { message: "The run is queued." } });
      });
      await firstRun(page).getByRole("link").click();
      const whatToDo = page.getByRole("link", { name: "What to do" }).last();
      expect(await whatToDo.getAttribute("href")).toBe(advice);
      const chapter = await (await fetch(`${inject("service").url}${advice}`)).text();
      expect(chapter).toContain(`id="${advice.split("#")[1]}"`);
      const facts = (await page.locator(".run-facts").textContent()) ?? "";
      for (const fact of [
        "2026-11-20",
        "cdcdcdcdcd",
        "airports.csvababababab 12.3 KB, of 2026-11-19",
      ])
        expect(facts).toContain(fact);
      await page.getByRole("button", { name: "Queue again" }).click();
      await confirm(page, "Queue");
      expect(sent).toEqual([{ mode: "full", source: "dropped", as_of: "2026-11-20" }]);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    },
  );

  it("sends the date of dropped files", async () => {
    const page = await signIn();
    const sent: unknown[] = [];
    await page.route("**/admin/ingest/queue", (route) => {
      sent.push(route.request().postDataJSON());
      return route.fulfill({ json: { message: "The run is queued." } });
    });
    await page.getByRole("button", { name: "Queue a run" }).click();
    await page.getByLabel("Source").selectOption("dropped");
    await page.getByLabel("Date of the data").fill("2026-11-20");
    await confirm(page, "Queue");
    expect(sent).toEqual([{ source: "dropped", as_of: "2026-11-20" }]);
  });

  it("updates its rows in place when the page refreshes itself", async () => {
    const page = await signIn();
    await firstRun(page).waitFor();
    await page.evaluate("document.querySelector('tr[data-key]').marked = true");
    const answered = () => page.waitForResponse(/\/admin\/ingest\/runs/);
    await answered();
    await answered();
    expect(await page.evaluate("document.querySelector('tr[data-key]').marked")).toBe(true);
  });
});

describe("the dashboard", () => {
  it("has no serious accessibility fault in light or dark colours", async () => {
    const page = await signIn();
    for (const tab of ["Versions", "Audit", "Runs"]) {
      await page.getByRole("link", { name: tab }).click();
      await page.locator("tbody tr").first().waitFor();
      expect(await faultsInAllColors(page), tab).toEqual([]);
    }
    await firstRun(page).getByRole("link").click();
    await page.locator(".run-facts").waitFor();
    expect(await faultsInAllColors(page), "a run").toEqual([]);
    for (const name of ["Pause …", "Queue a run …", "Back up …"]) {
      const button = page.getByRole("button", { name });
      await button.press("Enter");
      await page.getByRole("dialog").waitFor();
      expect(await faultsInAllColors(page), name).toEqual([]);
      await page.keyboard.press("Escape");
      expect(await page.evaluate("document.activeElement.textContent")).toBe(name);
    }
  });

  it("keeps the dialog of an action that is opened as soon as another is closed", async () => {
    const page = await signIn();
    await page.getByRole("button", { name: "Back up …" }).click();
    await page.getByRole("heading", { name: "Take a backup" }).waitFor();
    await page.evaluate(`
      const queue = [...document.querySelectorAll("button")].find((one) => one.textContent === "Queue a run …");
      document.querySelector("dialog").close();
      queue.click();
    `);
    await page.getByRole("heading", { name: "Queue an ingest run" }).waitFor();
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 100))");
    expect(await page.getByRole("dialog").count()).toBe(1);
  });

  it("changes nothing when the operator does not confirm", async () => {
    const page = await signIn();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await page.reload();
    await page.getByRole("button", { name: "Pause" }).waitFor();
  });

  it("can be operated by keyboard alone, without losing the focus", async () => {
    const page = await signIn();
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    await expect.poll(focused).toBe("Runs");
    await firstRun(page).getByRole("link").press("Enter");
    await page.locator(".run-facts").waitFor();
    await expect.poll(focused).toBe("Runs");
    await page.getByRole("link", { name: "All runs" }).press("Enter");
    await firstRun(page).waitFor();
    await expect.poll(focused).toBe("Runs");
    for (const name of ["Held changes", "Versions", "Alerts", "Backups", "Audit"]) {
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 2, name: new RegExp(name, "i") }).waitFor();
      expect(await focused()).toBe(name);
      expect(await page.evaluate(OUTLINE)).toBe("solid");
    }
  });

  it("shows the section to which a link leads, on a phone and again", async () => {
    const height = 400;
    const page = await signIn("", { viewport: { width: 390, height } });
    const sections = page.getByRole("navigation", { name: "Sections" });
    const top = async () => (await sections.boundingBox())?.y ?? Infinity;
    await page.locator("summary", { hasText: "Who changed what?" }).click();
    const link = page.getByRole("link", { name: "All changes" });
    await link.waitFor();
    for (const time of ["first", "second"]) {
      await page.evaluate("window.scrollTo(0, 0)");
      expect(await top(), time).toBeGreaterThan(height);
      await link.click();
      await page.getByRole("heading", { level: 2, name: "Audit" }).waitFor();
      await expect.poll(top).toBeLessThan(0.75 * height);
    }
  });

  it("waits for the answer of a slow service before it asks again", async () => {
    const page = await signIn();
    const held: Route[] = [];
    await page.route(/\/admin\/monitor\/status/, (route) => void held.push(route));
    await expect.poll(() => held.length).toBe(1);
    await page.waitForTimeout(POLL_MS * 1.5);
    expect(held).toHaveLength(1);
    await held[0]?.continue();
    await expect.poll(() => held.length).toBe(2);
  });

  it("opens the answers and the actions of an operator also while the history cannot be read", async () => {
    const page = await openPage("/docs");
    const problem = { type: "about:blank", status: 503, code: "history_unavailable" };
    const detail = "The history in D1 cannot be read.";
    await page.route(RUNS, (route) => route.fulfill({ status: 503, json: { ...problem, detail } }));
    const { adminToken } = inject("service");
    await page.evaluate(`sessionStorage.setItem('locations.admin-token', '${adminToken}')`);
    await page.goto("/dashboard");
    await page.getByText(detail).waitFor();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.locator("summary", { hasText: "Who changed what?" }).click();
    await page.getByRole("link", { name: "All changes" }).waitFor();
    for (const text of takeProblems()) expect(text).toContain("503");
  });

  it("shows times in the reader's zone, with UTC beside", async () => {
    const page = await signIn("", { timezoneId: "Asia/Kathmandu" });
    const time = firstRun(page).locator("time small").first();
    expect(await time.innerText()).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d \((?:\d{4}-\d\d-\d\d )?\d\d:\d\d UTC\)$/,
    );
  });

  it("keeps an audit with a long word in the window", async () => {
    const page = await signIn();
    const entry = {
      id: "1",
      action: "catalog.rollback",
      at: "2026-11-26T05:26:09.000Z",
      actor: "local",
      target: "1",
      outcome: "done",
      detail: null,
      request: { generation: 1, note: "a note of several words that explains it" },
      before: { generation: 2 },
      after: { generation: 3, error: "f8b1a51b".repeat(9) },
    };
    await page.route("**/admin/audit", (route) =>
      route.fulfill({ json: { entries: [entry], next_cursor: null } }),
    );
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByRole("cell", { name: "f8b1a51bf8b1a51b" }).waitFor();
    for (const width of [1280, 1040]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    }
  });

  it("lists the decided changes below what was decided, also on a phone", async () => {
    const page = await signIn("", { viewport: { width: 360, height: 740 } });
    const fields = [{ field: "name", before: "Geneva Cointrin Airport", after: "Calvin Airport" }];
    const changes = [{ id: "1-1", iata: "GVA", name: "Geneva Cointrin Airport", fields }];
    const entry = {
      id: "1",
      action: "ingest.reject_held",
      at: new Date().toISOString(),
      actor: "local",
      target: "1-1",
      outcome: "done",
      detail: null,
      request: null,
      before: { waiting: 1 },
      after: { rejected: 1, changes },
    };
    await page.route(/\/admin\/audit/, (route) =>
      route.fulfill({ json: { entries: [entry], next_cursor: null } }),
    );
    await page.getByRole("link", { name: "Audit" }).click();
    const cell = page.locator("td", { hasText: "waiting: 1 → rejected: 1" });
    const list = await cell.getByRole("list").boundingBox();
    const box = await cell.boundingBox();
    expect(list?.y).toBeGreaterThan((box?.y ?? 0) + ONE_LINE_PX);
    expect(list?.width).toBeGreaterThan(0.6 * (box?.width ?? 0));
  });

  it("fits on a phone", async () => {
    const page = await signIn("", { viewport: { width: 360, height: 740 }, hasTouch: true });
    for (const tab of ["Held changes", "Versions", "Alerts", "Backups", "Audit", "Runs"]) {
      await page.getByRole("link", { name: tab, exact: true }).tap();
      await page.getByRole("heading", { level: 2, name: new RegExp(tab, "i") }).waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth"), tab).toBe(360);
      expect(await seriousFaults(page), tab).toEqual([]);
    }
    await page.getByRole("button", { name: "Queue a run" }).tap();
    const wide = "[...document.querySelectorAll('dialog *')].filter((e) => e.scrollWidth > 360)";
    expect(await page.evaluate(`${wide}.length`)).toBe(0);
    const [mode, dialog] = await Promise.all([
      page.getByLabel("Mode").boundingBox(),
      page.getByRole("dialog").boundingBox(),
    ]);
    expect((mode?.x ?? 0) + (mode?.width ?? 0)).toBeLessThan(
      (dialog?.x ?? 0) + (dialog?.width ?? 0),
    );
  });
});

describe("the dialog of a rollback", () => {
  it("says which locales a rollback ends and brings back, and what does not fit the settings", async () => {
    const page = await signIn("#versions");
    const before = await currentVersion(page);
    // There is no version 0 to compare with.
    await page.route("**/admin/catalog/comparison?to=0", async (route) => {
      const url = route.request().url().replace("to=0", `to=${before}`);
      const { from, to, ...others } = await (await route.fetch({ url })).json();
      const json = {
        ...others,
        from: { ...from, locales: ["en", "fr"] },
        to: { ...to, locales: ["en", "pt"] },
        warning: "DEFAULT_LOCALE is fr: en answers instead.",
      };
      await route.fulfill({ json });
    });
    await page.route("**/admin/catalog/versions", async (route) => {
      const answer = await route.fetch();
      const { versions } = await answer.json();
      const [current] = versions;
      const earlier = { ...current, generation: 0, is_current: false };
      await route.fulfill({ json: { versions: [current, earlier] } });
    });
    await page.reload();
    await page.getByRole("button", { name: "Roll back" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The content is the same in the locale en.").waitFor();
    const text = await dialog.textContent();
    expect(text).toContain("These locales are no longer served: fr.");
    expect(text).toContain("These locales are served as well: pt.");
    expect(text).toContain("DEFAULT_LOCALE is fr: en answers instead.");
  });
});
