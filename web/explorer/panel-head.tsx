import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useSpeech } from "./use-speech.ts";

interface Props {
  /** The subject of the heading. */
  readonly above: ComponentChildren;
  readonly heading: ComponentChildren;
  /** Changes with what the panel shows: the heading then has the focus, unless somebody types. */
  readonly subject?: unknown;
  readonly onClose: () => void;
}

/** The head of a panel of the side, with a button that closes it. */
export function PanelHead({ above, heading, subject, onClose }: Props) {
  const { words } = useSpeech();
  const shown = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const field = document.querySelector<HTMLInputElement>("input[type=text]:focus");
    if (!field?.value) shown.current?.focus({ preventScroll: true });
    // On a phone, the map is above the heading.
    shown.current?.closest(".side-scroll")?.scrollTo(0, 0);
    window.scrollTo(0, 0);
  }, [subject]);
  return (
    <>
      <div class="row row-spread place-top">
        {above}
        <button
          type="button"
          class="icon-button"
          aria-label={words.close}
          title={words.close}
          onClick={onClose}
        >
          <span aria-hidden="true">×</span>
        </button>
      </div>
      <h1 ref={shown} tabIndex={-1} class="place-name">
        {heading}
      </h1>
    </>
  );
}
