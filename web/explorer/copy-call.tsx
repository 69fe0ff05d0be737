import { useState } from "preact/hooks";
import { CopyButton } from "../shared/copy-button.tsx";
import { Segmented } from "../shared/segmented.tsx";
import { callSnippet, type SnippetKind } from "./call-snippets.ts";
import type { CallSettings } from "./permalink.ts";

const KIND_NAMES = { curl: "curl", buf: "buf", typescript: "TypeScript" } as const;

/** Shows the current call as code to copy. */
export function CopyCall({ settings }: { settings: CallSettings }) {
  const [kind, setKind] = useState<SnippetKind>("curl");
  const snippet = callSnippet(kind, settings, window.location.origin);
  return (
    <details class="copy-call">
      <summary>Copy this call</summary>
      <div class="stack">
        <div class="row row-spread copy-call-controls">
          <Segmented legend="As" choices={KIND_NAMES} value={kind} onChange={setKind} />
          <CopyButton label="Copy" text={() => snippet} />
        </div>
        <pre class="code-block" tabIndex={0} aria-label={`The call in ${KIND_NAMES[kind]}`}>
          <code>{snippet}</code>
        </pre>
        {kind === "buf" && settings.protocol === "connect-get" && (
          <p class="hint">buf curl sends Connect as POST; the answer is the same.</p>
        )}
      </div>
    </details>
  );
}
