import { useEffect, useRef, useState } from "preact/hooks";
import { NOTE_MAX_LENGTH } from "../../src/schemas/audit-actions.ts";
import { formatTimesIn } from "../shared/format.ts";
import { type Action, type ActionAnswer, type ActionField, actionRequest } from "./action.ts";
import {
  type AdminFailure,
  type AdminRequest,
  type AdminResult,
  askAdmin,
} from "./admin-client.ts";
import { TokenField, useToken } from "./token-form.tsx";
import { refreshAll } from "./use-poll.ts";

interface Props {
  readonly action: Action;
  readonly onClose: () => void;
}

/** Asks for confirmation, runs the action and shows the answer. */
export function ActionDialog({ action, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isSending, setSending] = useState(false);
  const [confirmed, setConfirmed] = useState<AdminRequest>();
  const [result, setResult] = useState<AdminResult<ActionAnswer>>();
  // However often the dialog sends its request, the service starts its work once.
  const [idempotencyKey] = useState(newKey);
  const token = useToken();
  const needsToken = result?.ok === false && isOfCredential(result.failure);
  const controls = useRef<readonly HTMLElement[]>([]);
  useEffect(() => {
    controls.current = controlsFromFocus();
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    // The control that had the focus is gone, or was disabled meanwhile.
    const next = needsToken ? "input" : ".dialog-buttons button:last-child";
    if (result) dialog.current?.querySelector<HTMLElement>(next)?.focus();
  }, [result]);
  const onEnd = () => {
    // The browser returns the focus, unless the control is gone, as with the row of a decided change.
    const isNowhere = () =>
      document.activeElement === document.body || dialog.current?.contains(document.activeElement);
    for (const control of controls.current) if (isNowhere()) control.focus();
    onClose();
  };
  const onSubmit = async (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    if (needsToken && !token.take()) return;
    // A retry sends the confirmed values, because the fields are gone by then.
    const request = confirmed ?? actionRequest(action, new FormData(event.currentTarget));
    setConfirmed(request);
    setSending(true);
    const answer = await askAdmin<ActionAnswer>({ ...request, idempotencyKey });
    setResult(answer);
    setSending(false);
    // The service counts each request with a refused credential.
    if (answer.ok || !isOfCredential(answer.failure)) refreshAll();
  };
  const verb = result === undefined ? action.verb : "Try again";
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="dialog-title" onClose={onEnd}>
      <form class="stack" onSubmit={(event) => void onSubmit(event)}>
        <h2 id="dialog-title">{action.title}</h2>
        <p class="hint">On {window.location.host}</p>
        {result === undefined && (
          <>
            <p>{action.explanation}</p>
            {action.preview && (
              <div class="dialog-preview" tabIndex={0}>
                {action.preview}
              </div>
            )}
            {action.fields?.map((field) => (
              <Field key={field.name} field={field} />
            ))}
          </>
        )}
        {result && <ActionResult {...{ action, result }} onLeave={() => dialog.current?.close()} />}
        {needsToken && (
          <>
            <p>
              Nothing has changed. What you entered is still here: enter a token, and try again.
            </p>
            <TokenField {...token} onInput={token.setTyped} />
          </>
        )}
        <div class="row dialog-buttons">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            {result === undefined ? "Cancel" : "Close"}
          </button>
          {!result?.ok && (
            <button
              type="submit"
              class={`button ${action.isDangerous ? "button-danger" : "button-main"}`}
              disabled={isSending}
            >
              {isSending ? "Sending …" : verb}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}

/** The control with the focus, those after it, and then those before it; none if none has it. */
function controlsFromFocus(): readonly HTMLElement[] {
  const controls = [...document.querySelectorAll<HTMLElement>("a, button, input, select, summary")];
  const at = controls.findIndex((control) => control === document.activeElement);
  return at < 0 ? [] : [...controls.slice(at), ...controls.slice(0, at).toReversed()];
}

/** `crypto.randomUUID` is missing where the page is not secure, as over HTTP in a network. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}

/** Whether another token may help. */
function isOfCredential({ kind, code }: AdminFailure): boolean {
  return (kind === "unauthenticated" || kind === "forbidden") && code !== "";
}

interface ActionResultProps {
  readonly action: Action;
  readonly result: AdminResult<ActionAnswer>;
  readonly onLeave: () => void;
}

function ActionResult({ action, result, onLeave }: ActionResultProps) {
  if (!result.ok) {
    const { message, requestId } = result.failure;
    return (
      <div class="notice notice-bad" role="alert">
        <p>{message}</p>
        {requestId !== "" && <small class="request-id">Request {requestId}</small>}
      </div>
    );
  }
  const { message, run, job } = result.body;
  return (
    <>
      <div class="notice notice-good" role="status">
        <p>{formatTimesIn(message)}</p>
      </div>
      {run && (
        <a href={action.isEvaluation ? "#alerts" : `#runs/${run.id}`} onClick={onLeave}>
          {action.isEvaluation ? "Show the alerts" : "Show the run"}
        </a>
      )}
      {job && (
        <a href="#backups" onClick={onLeave}>
          Show the backups
        </a>
      )}
      <details class="answer">
        <summary>Full response</summary>
        <pre class="code-block" tabIndex={0}>
          <code>{JSON.stringify(result.body, null, 2)}</code>
        </pre>
      </details>
    </>
  );
}

function Field({ field }: { readonly field: ActionField }) {
  const { kind, name, label } = field;
  if (kind === "check")
    return (
      <label class="row check">
        <input type="checkbox" name={name} />
        <span>
          {label}
          {field.hint !== "" && <small>{field.hint}</small>}
        </span>
      </label>
    );
  return (
    <label class="stack field">
      <span class="field-label">
        {label} {kind !== "choice" && "(optional)"}
      </span>
      {kind === "choice" && (
        <select class="select" name={name}>
          {Object.entries(field.choices).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
      {kind === "text" && (
        <input class="input" name={name} maxLength={NOTE_MAX_LENGTH} autocomplete="off" />
      )}
      {kind === "time" && <input class="input" name={name} type="datetime-local" />}
      {kind === "date" && <input class="input" name={name} type="date" />}
      {kind !== "choice" && <small>{field.hint}</small>}
    </label>
  );
}
