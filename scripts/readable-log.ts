import { closeSync, openSync, readSync, statSync } from "node:fs";
import * as z from "zod";
import { parseJson } from "../src/platform/parse-json.ts";

/** Interval between looks at the log. */
const POLL_MS = 250;
const CHUNK_BYTES = 64 * 1024;

/**
 * Follows the Worker's log.
 *
 * @param format formats a line; undefined if it is not shown.
 * @returns a function that stops, after the last line.
 */
export function followLog(
  file: string,
  format: (line: string) => string | undefined,
  show: (line: string) => void,
): () => void {
  let at = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  let rest = Buffer.alloc(0);
  const look = () => {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < at) at = 0; // the file was emptied
    if (size === at) return;
    const log = openSync(file, "r");
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let read = 0; (read = readSync(log, chunk, 0, CHUNK_BYTES, at)) > 0; at += read) {
      rest = Buffer.concat([rest, chunk.subarray(0, read)]);
      const end = rest.lastIndexOf("\n") + 1;
      for (const line of rest.toString("utf8", 0, end).split("\n")) {
        const shown = format(line);
        if (shown !== undefined) show(shown);
      }
      rest = rest.subarray(end);
    }
    closeSync(log);
  };
  const timer = setInterval(look, POLL_MS);
  return () => {
    clearInterval(timer);
    look();
  };
}

/** The Worker's output as JSON lines, also workerd's messages about it, such as an uncaught error. */
export function workerLine(level: string, message: string): string {
  const line = { ts: new Date().toISOString(), level, event: "runtime", msg: message };
  return jsonLine(message) ?? JSON.stringify(line);
}

/** A line that the Worker has written itself; those of Miniflare are not JSON. */
export function jsonLine(line: string): string | undefined {
  return line.startsWith("{") && parseJson(line) !== undefined ? line : undefined;
}

const time = z.object({ ts: z.iso.datetime() });
const jobError = z.object({ code: z.string(), message: z.string() });
const ended = { state: z.string(), duration_ms: z.number().nullable() };

/** The events that are shown, with their fields. */
const EVENTS = z.discriminatedUnion("event", [
  z.object({ event: z.literal("ingest_started"), run_id: z.string(), trigger: z.string() }),
  z.object({
    event: z.literal("ingest_ended"),
    run_id: z.string(),
    ...ended,
    outcome: z.string().nullable(),
    generation: z.number().nullable(),
    stage: z.string().optional(),
    error_code: z.string().optional(),
    error: z.string().optional(),
  }),
  z.object({ event: z.literal("backup_started"), kind: z.string(), backup_id: z.string() }),
  z.object({
    event: z.literal("backup_ended"),
    kind: z.string(),
    backup_id: z.string(),
    ...ended,
    error: jobError.optional(),
  }),
  z.object({
    event: z.literal("alert_changed"),
    rule: z.string(),
    labels: z.record(z.string(), z.string()),
    previous_state: z.string(),
    state: z.string(),
    message: z.string(),
  }),
  z.object({
    event: z.literal("alerts_ended"),
    changed: z.literal(true),
    firing: z.number(),
    fired: z.number(),
    resolved: z.number(),
  }),
]);

const KINDS: { readonly [kind: string]: string } = {
  run: "backup",
  verify: "verification of backup",
  restore: "restore of backup",
};

/** Formats a line of the Worker's log for people, with the local time; undefined if it is not shown. */
export function readableLine(line: string): string | undefined {
  const json = line.startsWith("{") ? parseJson(line) : undefined;
  const { data: at } = time.safeParse(json);
  const { data: event } = EVENTS.safeParse(json);
  if (at === undefined || event === undefined) return undefined;
  // A message may contain upstream's text.
  const text = textOf(event)
    ?.replaceAll(/\p{C}+/gu, " ")
    .slice(0, LINE_MAX);
  return text && `${new Date(at.ts).toTimeString().slice(0, 8)} ${text}`;
}

/** Maximum number of characters of a line. */
const LINE_MAX = 1_000;

function textOf(event: z.output<typeof EVENTS>): string | undefined {
  switch (event.event) {
    case "ingest_started":
      return `ingest ${event.run_id} started (${event.trigger})`;
    case "ingest_ended": {
      const { run_id, outcome, generation, stage, error, error_code } = event;
      const published = outcome === "published" ? `published generation ${generation}` : outcome;
      const failure = error === undefined ? "" : ` in stage ${stage}: ${error} (${error_code})`;
      return `ingest ${run_id} ${endOf(event, published?.replaceAll("_", " "))}${failure}`;
    }
    case "backup_started":
      return `${KINDS[event.kind]} ${event.backup_id} started`;
    case "backup_ended": {
      const { kind, backup_id, error } = event;
      const failure = error === undefined ? "" : `: ${error.message} (${error.code})`;
      return `${KINDS[kind]} ${backup_id} ${endOf(event)}${failure}`;
    }
    case "alert_changed": {
      const { rule, labels, previous_state, state, message } = event;
      if (previous_state === "resolved" && state === "inactive") return undefined;
      const about = [rule, ...Object.values(labels)].join(" ");
      return `alert ${about}: ${previous_state} → ${state}: ${message}`;
    }
    case "alerts_ended":
      return `alerts evaluated: ${event.fired} fired, ${event.resolved} resolved, ${event.firing} firing`;
  }
}

function endOf(
  { state, duration_ms }: { readonly state: string; readonly duration_ms: number | null },
  outcome?: string,
): string {
  const what = outcome === undefined ? state : `${state}: ${outcome}`;
  return `${what} ${state === "succeeded" ? "in" : "after"} ${((duration_ms ?? 0) / 1_000).toFixed(1)} s`;
}
