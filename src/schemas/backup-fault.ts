/** Reasons why a backup cannot be used, made or restored. */
export const FAULT_CODES = [
  "manifest_missing",
  "manifest_damaged",
  "future_format",
  "former_format",
  "part_damaged",
  "object_missing",
  "object_damaged",
  "state_invalid",
  "catalog_mismatch",
  "nothing_published",
  "schema_mismatch",
  "foreign_stores",
  "store_fault",
  "version_lost",
] as const;
type FaultCode = (typeof FAULT_CODES)[number];

/** An expected failure: a stable code, and a message for operators. */
export interface Fault {
  readonly code: FaultCode;
  readonly message: string;
}

export function fault(code: FaultCode, message: string): Fault {
  return { code, message };
}
