/** Formats 9074 as "9,074". Not by `Intl`, whose first use takes a phone longer than a frame. */
export function formatCount(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Formats 1 and "run" as "1 run", 9074 and "run" as "9,074 runs". */
export function formatNumberOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** The start of a hash, which is enough to distinguish contents. */
export function formatHash(sha256: string): string {
  return sha256.slice(0, 10);
}

/** Formats bytes: "864 B", "12.3 KB", "1.82 MB" (powers of ten). */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, "KB"] : [bytes / 1e6, "MB"];
  return `${formatCount(Number(value.toPrecision(3)))} ${unit}`;
}

/**
 * Formats a time in the reader's zone, with UTC beside it: "2026-11-21 07:40 (06:40 UTC)"; once where
 * both are the same.
 */
export function formatTime(time: string): string {
  const at = new Date(time);
  const minutes = (date: Date) => date.toISOString().slice(0, 16).replace("T", " ");
  const utc = minutes(at);
  const local = minutes(new Date(at.getTime() - at.getTimezoneOffset() * 60_000));
  if (local === utc) return `${utc} UTC`;
  const isSameDay = local.slice(0, 10) === utc.slice(0, 10);
  return `${local} (${isSameDay ? utc.slice(11) : utc} UTC)`;
}

const TIMES = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Formats the times within a message of the service, which writes them in RFC 3339. */
export function formatTimesIn(message: string): string {
  return message.replaceAll(TIMES, formatTime);
}
