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

/** Both tables, as in docs/platform.md. */
export function costReport(): string {
  return [
    costTable("a million requests", requestCosts()),
    costTable("an ingest that publishes all", ingestCosts()),
  ].join("\n\n");
}

if (import.meta.main) process.stdout.write(`${costReport()}\n`);
