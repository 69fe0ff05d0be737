import type { ComponentChildren } from "preact";
import { FailureLine } from "./failure-line.tsx";
import type { Pages, Polled } from "./use-poll.ts";

interface Props {
  readonly title: string;
  /** The part that the deployment may lack, such as "audit". */
  readonly what: string;
  readonly polled: Polled<unknown> & Partial<Pick<Pages<never>, "loadMore">>;
  /** Buttons beside the title. */
  readonly actions?: ComponentChildren;
  /** Shown once the document is there. */
  readonly children: ComponentChildren;
}

/** A titled part of the dashboard that shows a document, and loads more of it. */
export function Section({ title, what, polled, actions, children }: Props) {
  return (
    <section class="section stack">
      <header class="row row-spread">
        <h2>{title}</h2>
        <div class="row section-actions">{actions}</div>
      </header>
      <FailureLine polled={polled} what={what} />
      {polled.body !== undefined && children}
      {polled.loadMore && (
        <button type="button" class="button" onClick={polled.loadMore}>
          Show older
        </button>
      )}
    </section>
  );
}
