/** Lets a file's tests start when the running service has published its catalog. */
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";

const POLL_MS = 100;

/** The fields of a run in `GET /admin/ingest/runs` that are used here. */
interface Run {
  readonly state: string;
  readonly error: unknown;
}

const { url, adminToken } = inject("service");

while ((await fetch(`${url}/catalog/health`)).status !== 200) {
  const headers = { authorization: `Bearer ${adminToken}` };
  const answer = await fetch(`${url}/admin/ingest/runs?limit=1`, { headers });
  const [run] = (await answer.json<{ runs: Run[] }>()).runs;
  if (run?.state === "failed") throw new Error(`nothing is published: ${JSON.stringify(run)}`);
  await sleep(POLL_MS);
}
