import * as z from "zod";
import { HELD_STATES, type HeldChange, heldChangeSchema } from "../../schemas/held-change.ts";
import { DECIDED_MAX, decidedChange, namesOf } from "../../schemas/decided-change.ts";
import { DECISIONS, HELD_RULES } from "../../schemas/held-rules.ts";
import {
  byChange,
  byRank,
  type Decision,
  rankOf,
  withDecision,
} from "../../acceptance/decisions.ts";
import { decodeHeld } from "../../ingest/ledger-files.ts";
import { count } from "../../schemas/fields.ts";
import { plainRun } from "../../coordinator/run-record.ts";
import { type ListedRun, runSchema } from "../../schemas/run.ts";
import { pageOf } from "../../storage/page.ts";
import { timeText } from "../../platform/time.ts";
import { type CoordinatorCalls, Unavailable } from "../calls.ts";
import type { Actor } from "../http/http.ts";
import {
  BAD_CURSOR,
  iataField,
  noteField,
  outcome,
  pageFields,
  pageQuery,
  restOf,
} from "../http/query.ts";
import { type Refusal, route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import { OF_RUN, runId, runPath } from "./find-runs.ts";

const NO_RULE = "none";
const ruleField = z
  .enum([...HELD_RULES, NO_RULE])
  .optional()
  .meta({ description: "All that this rule marks; `none`: those that no rule marks." });

const heldQuery = z.strictObject({
  state: z.enum(HELD_STATES).optional(),
  rule: ruleField,
  iata: iataField.optional(),
  run_id: runId.optional().meta({ description: "The run that saw the change first." }),
  ...pageQuery,
});

const heldPage = z
  .strictObject({
    held: z
      .array(heldChangeSchema)
      .meta({ description: "The most urgent first, then large airports, then by IATA code." }),
    by_rule: z.record(z.string(), count).meta({
      description:
        "How many match, ignoring the parameter `rule`, by rule, the most urgent first; `none`: those that no rule marks. A change may be marked by several.",
    }),
    ...pageFields,
  })
  .meta({ id: "HeldPage", description: "A page of held changes." });

const heldParams = z.object({
  id: z
    .string()
    .regex(/^[A-Z0-9-]+-[0-9a-f]{16}$/, "must be that of a change from GET /admin/ingest/held"),
});

const manyBody = z
  .strictObject({
    run_id: runId.optional().meta({ description: "All that this run saw first." }),
    rule: ruleField,
    note: noteField,
  })
  .refine(({ run_id, rule }) => run_id !== undefined || rule !== undefined, {
    message: "name the changes by run_id, rule or both",
  })
  .meta({
    override: ({ jsonSchema }) => {
      jsonSchema.anyOf = ["run_id", "rule"].map((name) => ({ ...jsonSchema, required: [name] }));
    },
  });

const ANSWERED_MAX = 100;

const decisionAnswer = z
  .strictObject({
    ...outcome,
    held: z
      .array(heldChangeSchema)
      .meta({ description: `The changes after the call, of many the first ${ANSWERED_MAX}.` }),
    run: runSchema.nullable().meta({ description: "The run that accepts the approved changes." }),
  })
  .meta({ id: "HeldDecision", description: "What a decision has changed." });

const VERDICTS = { approve: "approved", reject: "rejected" } as const;
type Verb = keyof typeof VERDICTS;

export function heldRoutes(platform: AdminPlatform) {
  const list = route({
    method: "get",
    path: "/admin/ingest/held",
    operationId: "listHeldChanges",
    summary: "List held changes",
    description:
      "A change of an airport, or of the name of a subdivision that the snapshot does not know, waits until upstream has said the same for SURPRISE_HOLD_MS, or until somebody decides. Rules mark the changes that an operator should look at. An airport without a row, and what they mark as `service_lost`, waits ten times as long; what they mark as `obscene` waits until somebody decides. `corrected` changes are those that the snapshot overrides; edit its corrections to change them.",
    access: "read",
    query: heldQuery,
    responses: { 200: { description: "A page of held changes", body: heldPage } },
    problems: { 503: NO_LIST },
  }).answer(async ({ query }) => {
    const { limit, cursor, rule, ...wanted } = query;
    const found = (await readHeld(platform)).filter((held) => matchesFilter(held, wanted));
    const page = pageOf(
      found.filter((held) => matchesFilter(held, { rule })),
      { limit, cursor },
      BY_RANK,
    );
    if (!page.ok) return BAD_CURSOR;
    return { status: 200, body: { held: page.items, by_rule: countRules(found), ...restOf(page) } };
  });
  return [
    list,
    ...(["approve", "reject"] as const).flatMap((verb) => decisionRoutes(verb, platform)),
  ];
}

const BY_RANK = {
  keyOf: rankOf,
  descending: false,
  form: /^\d\d [01] (?:[A-Z]{3})? [\w-]+$/,
};

function decisionRoutes(verb: Verb, platform: AdminPlatform) {
  const common = {
    method: "post",
    description: DECISIONS[verb],
    access: "operate",
    action: `ingest.${verb}_held`,
    responses: {
      200: { description: "The changes after the call", headers: OF_RUN, body: decisionAnswer },
    },
  } as const;
  const one = route({
    ...common,
    path: `/admin/ingest/held/:id/${verb}`,
    operationId: `${verb}HeldChange`,
    summary: `${verb === "approve" ? "Approve" : "Reject"} a held change`,
    params: heldParams,
    body: z.strictObject({ note: noteField }),
    problems: {
      404: "`held_not_found`: nothing is held under this id; upstream may say something else now",
      503: NO_LIST,
    },
  }).answer(async ({ params: { id }, body, actor }) => {
    const found = (await readHeld(platform)).filter(
      (held) => held.id === id && held.state !== "corrected",
    );
    if (found.length === 0) return notFound(id);
    return decide(platform, { verb, found, actor, note: body.note, target: id });
  });
  const many = route({
    ...common,
    path: `/admin/ingest/held/${verb}`,
    operationId: `${verb}HeldChanges`,
    summary: `${verb === "approve" ? "Approve" : "Reject"} all waiting changes of a run or a rule`,
    body: manyBody,
    problems: { 503: NO_LIST },
  }).answer(async ({ body, actor }) => {
    const { note: why, ...wanted } = body;
    const found = (await readHeld(platform)).filter(
      (held) =>
        (held.state === "waiting" || held.state === VERDICTS[verb]) && matchesFilter(held, wanted),
    );
    const target = wanted.run_id ?? wanted.rule ?? "";
    return decide(platform, { verb, found, actor, note: why, target });
  });
  return [one, many];
}

const NO_LIST =
  "`archive_unavailable`: R2 does not answer; `ledger_unavailable`: it has lost what is held, and the next run finds that again";

/** Reads the held changes, with the decisions that no run has applied yet. */
async function readHeld({ coordinator, archive }: AdminPlatform): Promise<HeldChange[]> {
  const { files, decisions } = await coordinator.ledger();
  if (files === null) return [];
  const bytes = await archive.read(files.held).catch((cause: unknown) => {
    throw new Unavailable("archive", cause);
  });
  if (bytes === null) throw new Unavailable("ledger");
  const held = await decodeHeld(new Blob([bytes]).stream()).catch((cause: unknown) => {
    throw new Unavailable("ledger", cause);
  });
  const verdicts = byChange(decisions);
  // An earlier Worker archived them in another order.
  return held.map((change) => withDecision(change, verdicts)).toSorted(byRank);
}

/** Counts the changes that each rule marks, the most urgent rule first. */
function countRules(held: readonly HeldChange[]): { readonly [rule: string]: number } {
  const marks = Map.groupBy<string, string>(held.flatMap(marksOf), (rule) => rule);
  return Object.fromEntries(
    [...HELD_RULES, NO_RULE].flatMap((rule) => {
      const marked = marks.get(rule);
      return marked === undefined ? [] : [[rule, marked.length]];
    }),
  );
}

function marksOf({ rules }: HeldChange): readonly string[] {
  return rules.length === 0 ? [NO_RULE] : rules;
}

type HeldFilter = Omit<z.output<typeof heldQuery>, "limit" | "cursor">;

function matchesFilter(held: HeldChange, { rule, state, iata, run_id }: HeldFilter): boolean {
  return (
    (rule === undefined || marksOf(held).includes(rule)) &&
    (state ?? held.state) === held.state &&
    (iata ?? held.iata) === held.iata &&
    (run_id ?? held.run_id) === held.run_id
  );
}

interface DecisionRequest {
  readonly verb: Verb;
  readonly found: readonly HeldChange[];
  readonly actor: Actor;
  readonly note: string | undefined;
  readonly target: string;
}

async function decide(
  { coordinator, now }: AdminPlatform,
  { verb, found, actor, note: why, target }: DecisionRequest,
) {
  const verdict = VERDICTS[verb];
  const made = { verdict, by: actor.id, at: timeText(now()), note: why ?? null };
  const changed = found.filter(({ state }) => state !== verdict);
  const decisions = changed.map(({ id }): Decision => ({ id, ...made }));
  if (decisions.length > 0) await coordinator.decide(decisions);
  // An approved change stays held until a run applies it. The answer to an earlier call may be lost.
  const runs = verb === "approve" ? await queueRuns(coordinator, found, actor) : [];
  const run = runs.at(-1) ?? null;
  const verdicts = byChange(decisions);
  const held = found.slice(0, ANSWERED_MAX).map((change) => withDecision(change, verdicts));
  const before: { [state: string]: number } = {};
  for (const { state } of changed) before[state] = (before[state] ?? 0) + 1;
  const decided = changed.length;
  return {
    status: 200,
    body: { changed: decided > 0, held, run, message: decisionMessage(verb, decided, runs) },
    ...(run && { headers: { location: runPath(run) } }),
    change: {
      target,
      before,
      after: { [verdict]: decided, changes: changed.slice(0, DECIDED_MAX).map(decidedChange) },
    },
  } as const;
}

/** Queues a run for each of these sources, and returns the accepted ones. */
async function queueRuns(
  coordinator: Pick<CoordinatorCalls, "enqueue">,
  approved: readonly HeldChange[],
  actor: Actor,
): Promise<readonly ListedRun[]> {
  const note = `accepts approved changes: ${namesOf(approved)}`;
  const plain = plainRun({ trigger: "manual", requested_by: actor.id, note });
  const runs: ListedRun[] = [];
  for (const source of new Set(approved.map((change) => change.source))) {
    const result = await coordinator.enqueue({ ...plain, source });
    if (result.ok) runs.push(result.answer.run);
  }
  return runs;
}

const NO_CHANGE = "Nothing changed.";

function decisionMessage(verb: Verb, changed: number, runs: readonly ListedRun[]): string {
  const ids = runs.map(({ id }) => id).join(" and ");
  const named = runs.length > 1 ? `Runs ${ids} accept` : `Run ${ids} accepts`;
  if (changed === 0)
    return runs.length === 0 ? NO_CHANGE : `${NO_CHANGE} ${named} the approved changes.`;
  const many = changed === 1 ? "One change is" : `${changed} changes are`;
  if (verb === "reject") return `${many} rejected until upstream says something else.`;
  const when = runs.length === 0 ? "The next run accepts" : named;
  return `${many} approved. ${when} what upstream still says.`;
}

function notFound(id: string): Refusal {
  const detail = `Nothing is held under the id ${id}. Upstream may say something else by now; list the held changes again.`;
  return { problem: { status: 404, code: "held_not_found", detail }, change: { target: id } };
}
