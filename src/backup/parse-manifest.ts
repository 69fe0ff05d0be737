import { sha256Hex } from "../catalog/hash.ts";
import { parseJson } from "../parse-json.ts";
import { type BackupManifest, FORMAT, manifestSchema, partName, sumParts } from "./format.ts";
import { type Fault, fault } from "./fault.ts";

export type ParsedManifest =
  | { readonly ok: true; readonly manifest: BackupManifest }
  | { readonly ok: false; readonly fault: Fault };

/**
 * Parses a `manifest.json` and checks its schema, its own hash, the backup's id and the sums of its
 * parts. Any fault makes the manifest unusable.
 */
export function parseManifest(text: string | null, id: string): ParsedManifest {
  if (text === null) return refuse("manifest_missing", "there is no manifest.json");
  const json = parseJson(text);
  if (typeof json !== "object" || json === null || Array.isArray(json))
    return refuse("manifest_truncated", "manifest.json is truncated or not a JSON object");
  const { sha256, ...fields }: { readonly [name: string]: unknown } = { ...json };
  if (typeof fields["format"] === "number" && fields["format"] > FORMAT)
    return refuse(
      "future_format",
      `the format is ${fields["format"]}, but this Worker reads ${FORMAT}; use a newer Worker`,
    );
  if (sha256 !== sha256Hex(JSON.stringify(fields)))
    return refuse("manifest_altered", "manifest.json does not match its own hash");
  const parsed = manifestSchema.safeParse(fields);
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

function refuse(code: Fault["code"], message: string): ParsedManifest {
  return { ok: false, fault: fault(code, message) };
}
