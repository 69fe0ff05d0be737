import { useState } from "preact/hooks";
import type { AdminFailure } from "./admin-client.ts";
import { isToken, keepSessionToken, sessionToken } from "./session-token.ts";

interface Props {
  readonly failure: AdminFailure;
  readonly onToken: () => void;
}

/** Asks for an operator's token, once per tab. */
export function TokenForm({ failure, onToken }: Props) {
  const [typed, setTyped] = useState("");
  const [isMistyped, setMistyped] = useState(false);
  const complaint = isMistyped ? MISTYPED : refusal(failure);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const token = typed.trim();
    setMistyped(!isToken(token));
    if (!isToken(token)) return;
    keepSessionToken(token);
    setTyped("");
    onToken();
  };
  return (
    <form class="panel stack token-form" onSubmit={onSubmit}>
      <h2>Sign in to operate</h2>
      <p class="hint">
        The token stays in this tab until you close it, and is sent to this service only. On your
        own machine, <code>npm start</code> has put one into{" "}
        <code>.wrangler/local-admin-token</code>.
      </p>
      <div class="row token-row">
        <label class="stack field token-field">
          <span class="field-label">Operator’s token</span>
          <input
            class="input"
            type="password"
            autocomplete="off"
            required
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button button-main">
          Sign in
        </button>
      </div>
      {complaint !== undefined && (
        <p class="notice notice-bad" role="alert">
          {complaint}
        </p>
      )}
    </form>
  );
}

const MISTYPED = "A token has letters, digits and ASCII signs only, without spaces. Copy it again.";

/** Returns the refusal, or undefined if no token was sent. */
function refusal({ code, message }: AdminFailure): string | undefined {
  return code === "unauthenticated" && sessionToken() === null ? undefined : message;
}
