import type { AdminRequest } from "./admin-client.ts";
import type { AlertRun, Receipt } from "./answers.ts";

/** What the dashboard reads of the answers to actions. */
export interface ActionAnswer {
  readonly message?: string;
  /** Of an evaluation of the alert rules. */
  readonly run?: AlertRun;
  /** Of test notifications. */
  readonly receipts?: readonly Receipt[];
}

/** What is asked of people before something is done. */
export type ActionField =
  | { readonly kind: "text"; readonly name: string; readonly label: string; readonly hint: string }
  | { readonly kind: "time"; readonly name: string; readonly label: string; readonly hint: string }
  | { readonly kind: "check"; readonly name: string; readonly label: string; readonly hint: string }
  | {
      readonly kind: "choice";
      readonly name: string;
      readonly label: string;
      /** Values with what they mean; an empty value is left out of the request. */
      readonly choices: readonly (readonly [value: string, text: string])[];
    };

/** Something that an operator can have done, after having confirmed it. */
export interface Action {
  readonly title: string;
  readonly explanation: string;
  /** What the button says that does it. */
  readonly verb: string;
  readonly isDangerous: boolean;
  /** POST where it is not said otherwise. */
  readonly method?: "DELETE";
  readonly path: string;
  readonly fields: readonly ActionField[];
  /** What the request says besides the fields. */
  readonly fixed?: object;
  /** What the answer says in a sentence, where it has no message of its own. */
  readonly tell?: (answer: ActionAnswer) => string;
}

/** The request of a confirmed action. Fields that were left empty are not sent, nor is a body with DELETE. */
export function actionRequest(action: Action, filled: FormData): AdminRequest {
  const { method = "POST", path } = action;
  if (method === "DELETE") return { method, path };
  const given = action.fields.flatMap(({ kind, name }) => {
    const value = filled.get(name);
    if (typeof value !== "string" || value.trim() === "") return [];
    if (kind === "check") return [[name, true]];
    return [[name, kind === "time" ? new Date(value).toISOString() : value.trim()]];
  });
  const body = { ...action.fixed, ...Object.fromEntries(given) };
  return { method, path, body };
}
