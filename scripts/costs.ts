/**
 * What a deployment costs beyond the 5 dollars a month of the Workers Paid plan, once its included
 * usage is used up. Prints the tables of docs/platform.md: node scripts/costs.ts
 */

/** Dollars, as published at developers.cloudflare.com in November 2026 (page in brackets). */
const PRICE = {
  /** [workers/platform/pricing] */
  request: 0.3e-6,
  cpuMs: 0.02e-6,
  /** [analytics/analytics-engine/pricing], announced and not charged yet. */
  dataPoint: 0.25e-6,
  /** [kv/platform/pricing] */
  kvRead: 0.5e-6,
  kvWrite: 5e-6,
  /** [r2/pricing] */
  r2Write: 4.5e-6,
  r2Read: 0.36e-6,
  /** [durable-objects/platform/pricing]; a GB-second is 8 seconds of an object's 128 MB. */
  objectRequest: 0.15e-6,
  objectGbSecond: 12.5e-6,
  /** [durable-objects/platform/pricing], [d1/platform/pricing] */
  rowWritten: 1e-6,
} as const;

interface CostLine {
  readonly what: string;
  readonly arithmetic: string;
  readonly dollars: number;
}

interface Amount {
  readonly what: string;
  readonly count: number;
  readonly unit: string;
  readonly price: keyof typeof PRICE;
}

const MILLION = 1_000_000;

/** A request in brotli (docs/performance.md), in an isolate that answers one a second. */
const PER_REQUEST = { cpuMs: 0.5, lookAfterSeconds: 30, perSecond: 1 };

/**
 * One ingest of all locales into an empty service, counted in the local stores; rows in proportion
 * to the blobs.
 */
const PER_INGEST = {
  blobs: 650,
  manifests: 1,
  generationManifests: 1,
  /** Each is looked for, written, and read. */
  sources: 2,
  /** To find upstream files and manifests that no version needs any more. */
  lists: 2,
  steps: 83,
  /** Of compressing at the effort `best`. */
  compressionCpuMs: 245_000,
  objectSeconds: 300,
  rows: 4_300,
};

/**
 * A five-minute tick of a service on which nobody calls, as counted in the local stores once a backup
 * exists: it evaluates the alerts and compares the stores.
 */
const PER_TICK = {
  kvReads: 2,
  r2Reads: 5,
  r2Lists: 1,
  /** Three calls of the two Durable Objects, and an alarm. */
  objectRequests: 4,
  /** Each of the two stays in memory for some ten seconds. */
  objectSeconds: 20,
  /** Of the Durable Objects, with one for each alarm that is set or deleted, and of D1. */
  rows: 56 + 5,
};

/** What the first tick of an hour does as well: it reads a locale's copies and looks for garbage. */
const PER_HOUR = { kvReads: 20, r2Reads: 20, r2Lists: 3 };

const HOURS_A_MONTH = 720;
const TICKS_A_MONTH = 12 * HOURS_A_MONTH;

function line({ what, count, unit, price }: Amount): CostLine {
  const arithmetic = `${count.toLocaleString("en")} ${unit} × $${Number((PRICE[price] * MILLION).toFixed(2))} / million`;
  return { what, arithmetic, dollars: count * PRICE[price] };
}

/** A million requests, in isolates that are busy. */
export function requestCosts(): CostLine[] {
  const { cpuMs, lookAfterSeconds, perSecond } = PER_REQUEST;
  const looks = Math.round(MILLION / (lookAfterSeconds * perSecond));
  return [
    line({ what: "requests", count: MILLION, unit: "requests", price: "request" }),
    line({ what: "CPU", count: MILLION * cpuMs, unit: "ms", price: "cpuMs" }),
    line({ what: "looking for a newer manifest", count: looks, unit: "KV reads", price: "kvRead" }),
    line({
      what: "metrics, where `METRICS` is bound",
      count: MILLION,
      unit: "data points",
      price: "dataPoint",
    }),
  ];
}

/** One ingest that publishes everything anew. */
function ingestCosts(): CostLine[] {
  const { blobs, manifests, generationManifests, sources, lists } = PER_INGEST;
  const { steps, compressionCpuMs, objectSeconds, rows } = PER_INGEST;
  const kvWrites = blobs + manifests;
  const r2Objects = blobs + manifests + generationManifests + sources;
  const r2Writes = r2Objects + lists;
  const r2Reads = manifests + generationManifests + sources;
  return [
    line({ what: "KV", count: kvWrites, unit: "writes", price: "kvWrite" }),
    line({
      what: "reading the manifest back",
      count: manifests,
      unit: "KV reads",
      price: "kvRead",
    }),
    line({ what: "R2", count: r2Writes, unit: "writes and lists", price: "r2Write" }),
    line({
      what: "reading manifests and upstream files",
      count: r2Reads,
      unit: "R2 reads",
      price: "r2Read",
    }),
    line({ what: "compressing", count: compressionCpuMs, unit: "ms", price: "cpuMs" }),
    line({
      what: "Durable Object",
      count: steps,
      unit: "alarms and calls",
      price: "objectRequest",
    }),
    line({
      what: "its duration",
      count: objectSeconds / 8,
      unit: "GB-seconds",
      price: "objectGbSecond",
    }),
    line({
      what: "rows of the Durable Object and D1",
      count: rows,
      unit: "rows",
      price: "rowWritten",
    }),
  ];
}

/** A month of ticks, which come whether anybody calls or not. */
function monthCosts(): CostLine[] {
  const monthly = (what: keyof typeof PER_HOUR) =>
    TICKS_A_MONTH * PER_TICK[what] + HOURS_A_MONTH * PER_HOUR[what];
  const ticks = (what: keyof typeof PER_TICK) => TICKS_A_MONTH * PER_TICK[what];
  return [
    line({ what: "cron triggers", count: TICKS_A_MONTH, unit: "requests", price: "request" }),
    line({ what: "KV", count: monthly("kvReads"), unit: "reads", price: "kvRead" }),
    line({ what: "R2", count: monthly("r2Reads"), unit: "reads", price: "r2Read" }),
    line({ what: "listing in R2", count: monthly("r2Lists"), unit: "lists", price: "r2Write" }),
    line({
      what: "Durable Objects",
      count: ticks("objectRequests"),
      unit: "alarms and calls",
      price: "objectRequest",
    }),
    line({
      what: "their duration",
      count: ticks("objectSeconds") / 8,
      unit: "GB-seconds",
      price: "objectGbSecond",
    }),
    line({
      what: "rows of the Durable Objects and D1",
      count: ticks("rows"),
      unit: "rows",
      price: "rowWritten",
    }),
  ];
}

/** A Markdown table with its sum. */
export function costTable(title: string, lines: readonly CostLine[]): string {
  const rows = lines.map(
    ({ what, arithmetic, dollars }) => `| ${what} | ${arithmetic} | ${inDollars(dollars)} |`,
  );
  const sum = lines.reduce((total, { dollars }) => total + dollars, 0);
  return [
    `| ${title} | arithmetic | $ |`,
    "| --- | --- | --: |",
    ...rows,
    `| **sum** | | **${inDollars(sum)}** |`,
  ].join("\n");
}

function inDollars(dollars: number): string {
  return dollars.toFixed(dollars < 0.001 ? 5 : 3);
}

/** The tables of docs/platform.md. */
export function costReport(): string {
  return [
    costTable("a million requests", requestCosts()),
    costTable("an ingest that publishes all", ingestCosts()),
    costTable("a month without a request", monthCosts()),
  ].join("\n\n");
}

if (import.meta.main) process.stdout.write(`${costReport()}\n`);
