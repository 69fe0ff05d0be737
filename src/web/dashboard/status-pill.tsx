const TONES: { readonly [word: string]: "good" | "warn" | "bad" | "busy" | "quiet" } = {
  pass: "good",
  ok: "good",
  succeeded: "good",
  published: "good",
  verified: "good",
  complete: "good",
  intact: "good",
  done: "good",
  resolved: "good",
  inactive: "good",
  warn: "warn",
  stale: "warn",
  unverified: "warn",
  pending: "warn",
  paused: "warn",
  nodata: "warn",
  no_backups: "warn",
  incomplete: "warn",
  refused: "warn",
  fail: "bad",
  failed: "bad",
  firing: "bad",
  critical: "bad",
  damaged: "bad",
  running: "busy",
  queued: "busy",
};

/** Shows a state as a word with a matching color. */
export function StatusPill({ word }: { word: string }) {
  return <span class={`pill pill-${TONES[word] ?? "quiet"}`}>{word.replaceAll("_", " ")}</span>;
}
