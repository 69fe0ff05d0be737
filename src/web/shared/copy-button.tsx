import { useEffect, useState } from "preact/hooks";

interface Props {
  readonly label: string;
  /** Asked for when the button is pressed. */
  readonly text: () => string;
}

const SHOWN_MS = 2_000;

/** Copies a text, and says so. */
export function CopyButton({ label, text }: Props) {
  const [state, setState] = useState<"idle" | "copied" | "refused">("idle");
  useEffect(() => {
    if (state === "idle") return undefined;
    const timer = setTimeout(() => setState("idle"), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () => {
    // Browsers offer the clipboard on secure origins only.
    const written = navigator.clipboard?.writeText(text()) ?? Promise.reject(new Error("none"));
    written.then(
      () => setState("copied"),
      () => setState("refused"),
    );
  };
  return (
    <button type="button" class="button" onClick={copy}>
      <span role="status">{state === "idle" ? label : ANSWERS[state]}</span>
    </button>
  );
}

const ANSWERS = { copied: "Copied", refused: "Select the text to copy it" } as const;
