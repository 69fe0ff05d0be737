import { z } from "zod";
import { sha256Hex } from "../catalog/hash.ts";
import { backupId } from "./backup-id.ts";
import {
  BACKUP_TRIGGERS,
  type BackupManifest,
  FORMAT,
  PART_NAME,
  partName,
  sumParts,
} from "./format.ts";
import { type Fault, fault } from "./fault.ts";

const hash = z.string().regex(/^[0-9a-f]{64}$/, "is not a SHA-256");
const count = z.int().nonnegative();
const time = z.iso.datetime({ precision: 3 });

const schema = z.strictObject({
  format: z.literal(FORMAT),
  id: backupId,
  trigger: z.enum(BACKUP_TRIGGERS),
  note: z.string().nullable(),
  started_at: time,
  finished_at: time,
  worker_version: z.string().nullable(),
  built_by: z.string().nullable(),
  catalog: z.strictObject({ generation: count, catalog_sha256: hash }).nullable(),
  tables: z.record(
    z.string(),
    z.strictObject({ columns: z.array(z.string()), rows: count, sha256: hash }),
  ),
  state: z.strictObject({ rows: count, sha256: hash }),
  parts: z.array(
    z.strictObject({
      name: z.string().regex(PART_NAME),
      table: z.string().nullable(),
      rows: count,
      bytes: count,
      sha256: hash,
      content_sha256: hash,
    }),
  ),
  objects: z.array(z.strictObject({ sha256: hash, bytes: count })),
  missing: z.array(hash),
});

export type ParsedManifest =
  | { readonly ok: true; readonly manifest: BackupManifest }
  | { readonly ok: false; readonly fault: Fault };

/**
 * Parses a `manifest.json` and checks its schema, its own hash, the backup's id and the sums of its
 * parts. Any fault makes the manifest unusable.
 */
export function parseManifest(text: string | null, id: string): ParsedManifest {
  if (text === null) return refuse("manifest_missing", "there is no manifest.json");
  const json = readJson(text);
  if (json === undefined)
    return refuse("manifest_truncated", "manifest.json is truncated or not a JSON object");
  const { sha256, ...fields } = json;
  if (typeof fields["format"] === "number" && fields["format"] > FORMAT)
    return refuse(
      "future_format",
      `the format is ${fields["format"]}, but this Worker reads ${FORMAT}; use a newer Worker`,
    );
  if (sha256 !== sha256Hex(JSON.stringify(fields)))
    return refuse("manifest_altered", "manifest.json does not match its own hash");
  const parsed = schema.safeParse(fields);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
    return refuse("manifest_invalid", `manifest.json: ${issues.slice(0, 5).join("; ")}`);
  }
  const problem = findContradiction(parsed.data, id);
  return problem === undefined
    ? { ok: true, manifest: parsed.data }
    : refuse("manifest_invalid", `manifest.json: ${problem}`);
}

function findContradiction(manifest: BackupManifest, id: string): string | undefined {
  if (manifest.id !== id) return `it belongs to backup ${manifest.id}`;
  const { tables, state, parts } = manifest;
  const numbers = new Map<string | null, number>();
  for (const { name, table } of parts) {
    if (table !== null && !Object.hasOwn(tables, table)) return `${name} belongs to no table`;
    const number = (numbers.get(table) ?? 0) + 1;
    numbers.set(table, number);
    if (name !== partName(table, number)) return `${name} is not the next part of its table`;
  }
  for (const [name, facts] of [...Object.entries(tables), [null, state] as const]) {
    const sum = sumParts(parts, name);
    if (sum.rows !== facts.rows || sum.sha256 !== facts.sha256)
      return `the sum of ${name ?? "the state"} differs from its parts`;
  }
  return undefined;
}

function readJson(text: string): { readonly [name: string]: unknown } | undefined {
  try {
    const json: unknown = JSON.parse(text);
    const isObject = typeof json === "object" && json !== null && !Array.isArray(json);
    return isObject ? { ...json } : undefined;
  } catch {
    return undefined;
  }
}

function refuse(code: Fault["code"], message: string): ParsedManifest {
  return { ok: false, fault: fault(code, message) };
}
