const GROUPED = new Intl.NumberFormat("en");
const THREE_DIGITS = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

/** Formats 9074 as "9,074". */
export function formatCount(count: number): string {
  return GROUPED.format(count);
}

/** Formats 1 and "run" as "1 run", 9074 and "run" as "9,074 runs". */
export function formatNumberOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** The beginning of a hash, by which people tell two contents apart. */
export function formatHash(sha256: string): string {
  return sha256.slice(0, 10);
}

/** Formats bytes: "864 B", "12.3 KB", "1.82 MB" (powers of ten). */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, "KB"] : [bytes / 1e6, "MB"];
  return `${THREE_DIGITS.format(value)} ${unit}`;
}

/** Formats a duration: "340 ms", "2.4 s", "3 min 20 s", "2 h 5 min", "4 d 3 h". */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(ms < 10_000 ? 1 : 0))} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return joinUnits(minutes, "min", Math.floor((ms % 60_000) / 1000), "s");
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return joinUnits(hours, "h", minutes % 60, "min");
  return joinUnits(Math.floor(hours / 24), "d", hours % 24, "h");
}

function joinUnits(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`;
}

/** Formats the distance of a time, such as "3 min ago" or "in 3 min"; "just now" below 5 seconds. */
export function formatAge(time: string, now: number): string {
  const age = now - Date.parse(time);
  const distance = Math.abs(age);
  if (distance < 5_000) return "just now";
  const unit = AGE_UNITS.find(({ belowMs }) => distance < belowMs) ?? DAYS;
  const text = `${Math.floor(distance / unit.ms)} ${unit.name}`;
  return age < 0 ? `in ${text}` : `${text} ago`;
}

const DAYS = { ms: 86_400_000, name: "d" };
const AGE_UNITS = [
  { belowMs: 60_000, ms: 1_000, name: "s" },
  { belowMs: 3_600_000, ms: 60_000, name: "min" },
  { belowMs: 172_800_000, ms: 3_600_000, name: "h" },
];

/** Formats a time in UTC: "2026-11-21 06:40:12". */
export function formatTime(time: string): string {
  return new Date(time).toISOString().slice(0, 19).replace("T", " ");
}

/** Formats degrees: "47.4647° N, 8.5492° E". */
export function formatPosition(lat: number, lon: number): string {
  const north = `${Math.abs(lat).toFixed(4)}° ${lat < 0 ? "S" : "N"}`;
  return `${north}, ${Math.abs(lon).toFixed(4)}° ${lon < 0 ? "W" : "E"}`;
}
