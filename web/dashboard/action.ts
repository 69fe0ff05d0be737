import type { ComponentChildren } from "preact";
import type { AdminRequest } from "./admin-client.ts";

/** The parts of action answers that the dashboard reads. */
export interface ActionAnswer {
  readonly message: string;
  /** The run that it started, cancelled or decided on. */
  readonly run?: { readonly id: string } | null;
  /** The job of a backup that it started. */
  readonly job?: object;
}

/** A field of a confirmation dialog. */
export type ActionField =
  | {
      readonly kind: "text" | "time" | "date" | "check";
      readonly name: string;
      readonly label: string;
      readonly hint: string;
    }
  | {
      readonly kind: "choice";
      readonly name: string;
      readonly label: string;
      /** Labels of the values. The request omits an empty value. */
      readonly choices: { readonly [value: string]: string };
    };

/** An action that an operator confirms. */
export interface Action {
  readonly title: string;
  readonly explanation: string;
  /** Label of the confirming button. */
  readonly verb: string;
  readonly isDangerous?: true;
  /** Whether the run in its answer is an evaluation of the alerts, which has no page. */
  readonly isEvaluation?: true;
  /** Default: POST. */
  readonly method?: "DELETE";
  readonly path: string;
  readonly fields?: readonly ActionField[];
  /** The changes that it would make. */
  readonly preview?: ComponentChildren;
  /** Other properties of the request. */
  readonly fixed?: object;
}

/** Builds the request of a confirmed action, without empty fields; a DELETE has them in its query. */
export function actionRequest(action: Action, filled: FormData): AdminRequest {
  const { method = "POST", path } = action;
  const given = (action.fields ?? []).flatMap(({ kind, name }) => {
    const value = filled.get(name);
    if (typeof value !== "string" || value.trim() === "") return [];
    if (kind === "check") return [[name, true]];
    return [[name, kind === "time" ? new Date(value).toISOString() : value.trim()]];
  });
  const fields = Object.fromEntries(given);
  if (method === "DELETE") return { method, path: `${path}?${new URLSearchParams(fields)}` };
  return { method, path, body: { ...action.fixed, ...fields } };
}
