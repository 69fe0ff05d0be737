import { gunzipSync } from "node:zlib";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeEach, expect, inject } from "vitest";
import { readSnapshotFile } from "../../../../test/builders/snapshot-on-disk.ts";
import { readSnapshotRows } from "../../../../test/builders/forgetful-snapshot.ts";
import { openPage, seriousFaults } from "../browser.ts";

/** Opens the dashboard and signs in. */
export async function signIn(
  hash = "",
  options: Parameters<typeof openPage>[1] = {},
): Promise<Page> {
  const page = await openPage(`/dashboard${hash}`, options);
  await page.getByLabel("Operator’s token").fill(inject("service").adminToken);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("navigation", { name: "Sections" }).waitFor();
  return page;
}

/**
 * Has the alerts evaluated before each test, as the cron does, and each test leave the service as it
 * found it, also where it fails: others share it.
 */
export function leaveServiceAsFound(): void {
  beforeEach(evaluateAlerts);
  afterEach(async () => {
    const { runs } = await admin<{ runs: { id: string; state: string }[] }>("GET", "ingest/runs");
    for (const { id, state } of runs)
      if (state === "queued" || state === "running")
        await admin("POST", `ingest/runs/${id}/cancel`).catch(() => "it has ended since");
    await admin("POST", "ingest/resume");
    const { versions } = await admin<{ versions: Version[] }>("GET", "catalog/versions");
    const first = versions.at(-1);
    const current = versions.find((version) => version.is_current);
    if (first !== undefined && first.catalog_sha256 !== current?.catalog_sha256)
      await admin("POST", "catalog/rollback", { generation: first.generation });
  });
}

/** Evaluates the alerts, as the cron does every five minutes. */
export async function evaluateAlerts(): Promise<void> {
  await admin("POST", "alerts/run", {});
}

interface Version {
  readonly generation: number;
  readonly catalog_sha256: string;
  readonly is_current: boolean;
}

/** Calls an admin route of the service. */
export async function admin<T>(method: string, path: string, body?: object): Promise<T> {
  const { url, adminToken } = inject("service");
  const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const answer = await fetch(`${url}/admin/${path}`, init);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json<T>();
}

/** Dialogs in which nobody need look for faults of accessibility again, by what confirms them. */
const faultless = new Set<string>();

/** Confirms the dialog, and returns what the service answered. Dialogs have no serious fault. */
export async function confirm(page: Page, verb: string): Promise<string> {
  const dialog = page.getByRole("dialog");
  const button = dialog.getByRole("button", { name: verb, exact: true });
  await button.waitFor();
  if (!faultless.has(verb)) expect(await seriousFaults(page), verb).toEqual([]);
  await button.click();
  const answer = (await dialog.locator(".notice").textContent()) ?? "";
  if (!faultless.has(verb)) expect(await seriousFaults(page), `${verb}, answered`).toEqual([]);
  faultless.add(verb);
  await dialog.getByRole("button", { name: "Close" }).click();
  return answer;
}

/** The newest job with a backup of a kind. */
export function job(page: Page, kind: "verification" | "restore"): Locator {
  return page.getByRole("table", { name: "Jobs" }).getByRole("row", { name: kind }).first();
}

/** The card of what is wrong. */
export const FAILED = "What failed, and what do I do?";
/** The list of ingest runs, and none of them. */
export const RUNS = /\/admin\/ingest\/runs(?:\?|$)/;

/** The version that the table calls current. */
export async function currentVersion(page: Page): Promise<number> {
  const row = page.locator("tr[data-key]", { has: page.locator(".pill") });
  return Number(await row.getAttribute("data-key"));
}

/** The run that is newest in the table. */
export function firstRun(page: Page) {
  return page.getByRole("table", { name: "Ingest runs" }).locator("tbody tr").first();
}

/**
 * Puts those of the snapshot's airports where the source `dropped` finds them.
 *
 * @returns how many airports are served then: the snapshot adds those that upstream did not list.
 */
export async function dropAirports(
  isWanted: (row: string, index: number) => boolean,
): Promise<number> {
  const text = gunzipSync(readSnapshotFile("airports.csv.gz")).toString().trimEnd();
  const [heading = "", ...rows] = text.split("\n");
  await storeFiles({
    "drop/airports.csv": Buffer.from(`${[heading, ...rows.filter(isWanted)].join("\n")}\n`),
    "drop/regions.csv.gz": readSnapshotFile("regions.csv.gz"),
  });
  const idOf = (row: string) => row.slice(0, row.indexOf(","));
  const absent = new Set(rows.filter((row, index) => !isWanted(row, index)).map(idOf));
  const added = readSnapshotRows("airport-corrections.csv.gz").filter(
    ({ id = "", iata_code }) => iata_code === "" && absent.has(id),
  );
  return rows.length - absent.size + added.length;
}

/** Puts files into the service's bucket of files, beside the service. */
async function storeFiles(files: { readonly [key: string]: Uint8Array }): Promise<void> {
  const worker = { modules: true, script: "export default {}", r2Buckets: ["locations-archive"] };
  const miniflare = new Miniflare({
    ...convertV4MiniflareOptions({ ...worker, cf: false }),
    resourcePersistencePath: inject("service").stateFolder,
  });
  try {
    const bucket = await miniflare.getR2Bucket("locations-archive");
    for (const [key, bytes] of Object.entries(files)) await bucket.put(key, bytes);
  } finally {
    await miniflare.dispose();
  }
}
