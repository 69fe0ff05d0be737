import type { ComponentChildren } from "preact";
import type { AdminRequest } from "./admin-client.ts";
import type { AlertRun, Receipt } from "./answers.ts";

/** The parts of action answers that the dashboard reads. */
export interface ActionAnswer {
  readonly message?: string;
  /** Of an evaluation of the alert rules. */
  readonly run?: AlertRun;
  /** Of test notifications. */
  readonly receipts?: readonly Receipt[];
}

/** A field of a confirmation dialog. */
export type ActionField =
  | { readonly kind: "text"; readonly name: string; readonly label: string; readonly hint: string }
  | { readonly kind: "time"; readonly name: string; readonly label: string; readonly hint: string }
  | { readonly kind: "check"; readonly name: string; readonly label: string; readonly hint: string }
  | {
      readonly kind: "choice";
      readonly name: string;
      readonly label: string;
      /** Values with their labels. The request omits an empty value. */
      readonly choices: readonly (readonly [value: string, text: string])[];
    };

/** An action that an operator confirms. */
export interface Action {
  readonly title: string;
  readonly explanation: string;
  /** Label of the confirming button. */
  readonly verb: string;
  readonly isDangerous?: true;
  /** Default: POST. */
  readonly method?: "DELETE";
  readonly path: string;
  readonly fields?: readonly ActionField[];
  /** What it would change. */
  readonly preview?: ComponentChildren;
  /** Other properties of the request. */
  readonly fixed?: object;
  /** Summarizes an answer without a message. */
  readonly tell?: (answer: ActionAnswer) => string;
}

/** Builds the request of a confirmed action, without empty fields, and without a body for DELETE. */
export function actionRequest(action: Action, filled: FormData): AdminRequest {
  const { method = "POST", path } = action;
  if (method === "DELETE") return { method, path };
  const given = (action.fields ?? []).flatMap(({ kind, name }) => {
    const value = filled.get(name);
    if (typeof value !== "string" || value.trim() === "") return [];
    if (kind === "check") return [[name, true]];
    return [[name, kind === "time" ? new Date(value).toISOString() : value.trim()]];
  });
  const body = { ...action.fixed, ...Object.fromEntries(given) };
  return { method, path, body };
}
