/** Milliseconds since 1970 (UTC). */
export type EpochMs = number;
/** A span of time in milliseconds. */
export type DurationMs = number;
/** SHA-256 in lowercase hexadecimal digits. */
export type Sha256Hex = string;
/** RFC 3339 in UTC with milliseconds: `2026-11-23T22:14:08.434Z`. */
export type Instant = string;
/** `YYYY-MM-DD`. */
export type Day = string;
