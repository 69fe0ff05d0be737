import { useState } from "preact/hooks";
import type { AdminFailure } from "./admin-client.ts";
import { isToken, keepSessionToken, sessionToken } from "./session-token.ts";
import { refreshAll } from "./use-poll.ts";

/** Asks for an operator's token, once per tab. */
export function TokenForm({ failure }: { readonly failure: AdminFailure | undefined }) {
  const { typed, isMistyped, setTyped, take } = useToken();
  const complaint = isMistyped || failure === undefined ? undefined : refusal(failure);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (take()) refreshAll();
  };
  return (
    <form class="stack token-form" onSubmit={onSubmit}>
      <div class="token-row">
        <TokenField typed={typed} isMistyped={isMistyped} onInput={setTyped} />
        <button type="submit" class="button button-main">
          Sign in
        </button>
      </div>
      <p class="hint">
        It stays in this tab until you close it, and is sent to this service only. On your own
        machine, <code>npm start</code> has put one into <code>.wrangler/local-admin-token</code>.
      </p>
      {complaint !== undefined && (
        <p class="notice notice-bad" role="alert">
          {complaint}
        </p>
      )}
    </form>
  );
}

/** Returns the refusal, or undefined if no token was sent. */
function refusal({ code, message }: AdminFailure): string | undefined {
  return code === "unauthenticated" && sessionToken() === null ? undefined : message;
}

/** A token that somebody types. `take` keeps it for this tab, unless no header can carry it. */
export function useToken() {
  const [typed, setTyped] = useState("");
  const [isMistyped, setMistyped] = useState(false);
  const take = (): boolean => {
    const token = typed.trim();
    setMistyped(!isToken(token));
    if (!isToken(token)) return false;
    keepSessionToken(token);
    setTyped("");
    return true;
  };
  return { typed, isMistyped, setTyped, take };
}

interface FieldProps {
  readonly typed: string;
  readonly isMistyped: boolean;
  readonly onInput: (typed: string) => void;
}

/** The field of `useToken`. */
export function TokenField({ typed, isMistyped, onInput }: FieldProps) {
  return (
    <div class="stack token-field">
      <label class="stack field">
        <span class="field-label">Operator’s token</span>
        <input
          class="input"
          type="password"
          autocomplete="off"
          required
          value={typed}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      </label>
      {isMistyped && (
        <p class="notice notice-bad" role="alert">
          A token has letters, digits and ASCII signs only, without spaces. Copy it again.
        </p>
      )}
    </div>
  );
}
