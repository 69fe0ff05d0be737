/**
 * What a deployment costs beyond the 5 dollars a month of the Workers Paid plan, once its included
 * usage is used up. Prints the sums of docs/platform.md and what they are made of: node scripts/costs.ts
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
  readonly count: number;
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

/** What the first tick of an hour does as well: it reads a locale's copies, and looks for lost blobs and for garbage. */
const PER_HOUR = { kvReads: 20, r2Reads: 20, r2Lists: 4 };

const HOURS_A_MONTH = 720;
const TICKS_A_MONTH = 12 * HOURS_A_MONTH;

/** A million requests, in isolates that are busy. */
export function requestCosts(): CostLine[] {
  const { cpuMs, lookAfterSeconds, perSecond } = PER_REQUEST;
  const looks = Math.round(MILLION / (lookAfterSeconds * perSecond));
  return [
    { what: "requests", count: MILLION, price: "request" },
    { what: "ms of CPU", count: MILLION * cpuMs, price: "cpuMs" },
    { what: "KV reads for a newer manifest", count: looks, price: "kvRead" },
    { what: "data points, where `METRICS` is bound", count: MILLION, price: "dataPoint" },
  ];
}

/** One ingest that publishes everything anew; what it reads costs less than a thousandth of a cent. */
function ingestCosts(): CostLine[] {
  const { blobs, manifests, generationManifests, sources, lists } = PER_INGEST;
  const { steps, compressionCpuMs, objectSeconds, rows } = PER_INGEST;
  const kvWrites = blobs + manifests;
  const r2Writes = blobs + manifests + generationManifests + sources + lists;
  return [
    { what: "KV writes", count: kvWrites, price: "kvWrite" },
    { what: "R2 writes and lists", count: r2Writes, price: "r2Write" },
    { what: "ms of CPU to compress", count: compressionCpuMs, price: "cpuMs" },
    { what: "alarms and calls of the Durable Object", count: steps, price: "objectRequest" },
    { what: "GB-seconds of it", count: objectSeconds / 8, price: "objectGbSecond" },
    { what: "rows of it and of D1", count: rows, price: "rowWritten" },
  ];
}

/** A month of ticks, which come whether anybody calls or not. */
function monthCosts(): CostLine[] {
  const monthly = (what: keyof typeof PER_HOUR) =>
    TICKS_A_MONTH * PER_TICK[what] + HOURS_A_MONTH * PER_HOUR[what];
  const ticks = (what: keyof typeof PER_TICK) => TICKS_A_MONTH * PER_TICK[what];
  return [
    { what: "cron triggers", count: TICKS_A_MONTH, price: "request" },
    { what: "KV reads", count: monthly("kvReads"), price: "kvRead" },
    { what: "R2 reads", count: monthly("r2Reads"), price: "r2Read" },
    { what: "R2 lists", count: monthly("r2Lists"), price: "r2Write" },
    {
      what: "alarms and calls of Durable Objects",
      count: ticks("objectRequests"),
      price: "objectRequest",
    },
    { what: "GB-seconds of them", count: ticks("objectSeconds") / 8, price: "objectGbSecond" },
    { what: "rows of them and of D1", count: ticks("rows"), price: "rowWritten" },
  ];
}

/** A Markdown table with its sum. */
export function costTable(title: string, lines: readonly CostLine[]): string {
  const costs = lines.map(({ count, price }) => count * PRICE[price]);
  const rows = lines.map(({ what, count, price }, index) => {
    const perMillion = Number((PRICE[price] * MILLION).toFixed(2));
    return `| ${what} | ${count.toLocaleString("en")} | ${perMillion} | ${inDollars(costs[index] ?? 0)} |`;
  });
  return [
    `| ${title} | count | $ per million | $ |`,
    "| --- | --: | --: | --: |",
    ...rows,
    `| **sum** | | | **${inDollars(sumOf(lines))}** |`,
  ].join("\n");
}

function sumOf(lines: readonly CostLine[]): number {
  return lines.reduce((total, { count, price }) => total + count * PRICE[price], 0);
}

function inDollars(dollars: number): string {
  return dollars.toFixed(dollars < 0.001 ? 5 : 3);
}

const TITLES = {
  request: "a million requests",
  ingest: "an ingest that publishes all",
  month: "a month without a request",
};

/** The table of docs/platform.md. */
export function costSummary(): string {
  return [
    "| if the plan included nothing | $ |",
    "| --- | --: |",
    `| ${TITLES.request} | ${inDollars(sumOf(requestCosts()))} |`,
    `| ${TITLES.ingest} | ${inDollars(sumOf(ingestCosts()))} |`,
    `| ${TITLES.month} | ${inDollars(sumOf(monthCosts()))} |`,
  ].join("\n");
}

function costReport(): string {
  return [
    costSummary(),
    costTable(TITLES.request, requestCosts()),
    costTable(TITLES.ingest, ingestCosts()),
    costTable(TITLES.month, monthCosts()),
  ].join("\n\n");
}

if (import.meta.main) process.stdout.write(`${costReport()}\n`);
