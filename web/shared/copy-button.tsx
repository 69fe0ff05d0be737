import { useEffect, useState } from "preact/hooks";

interface Props {
  readonly label: string;
  /** The button's text once it was pressed. */
  readonly answers?: typeof ANSWERS;
  /** Called when the button is pressed. */
  readonly text: () => string;
}

const SHOWN_MS = 2_000;

/** Copies a text and confirms it. */
export function CopyButton({ label, answers = ANSWERS, text }: Props) {
  const [state, setState] = useState<"idle" | "copied" | "refused">("idle");
  useEffect(() => {
    if (state === "idle") return undefined;
    const timer = setTimeout(() => setState("idle"), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () => {
    // Browsers provide the clipboard only on secure origins.
    const written = navigator.clipboard?.writeText(text()) ?? Promise.reject(new Error("none"));
    written.then(
      () => setState("copied"),
      () => setState("refused"),
    );
  };
  return (
    <>
      <button type="button" class="button" onClick={copy}>
        {state === "idle" ? label : answers[state]}
      </button>
      <span class="visually-hidden" role="status">
        {state !== "idle" && answers[state]}
      </span>
    </>
  );
}

const ANSWERS = { copied: "Copied", refused: "Select the text to copy it" };
