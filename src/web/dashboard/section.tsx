import type { ComponentChildren } from "preact";
import { FailureLine } from "./failure-line.tsx";
import type { Pages } from "./use-pages.ts";
import type { Polled } from "./use-poll.ts";

interface Props {
  readonly title: string;
  /** What the deployment may lack, such as "audit". */
  readonly what: string;
  readonly polled: Polled<unknown> & Partial<Pick<Pages<never>, "loadMore">>;
  /** Buttons beside the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A titled part of the dashboard that shows a document, and loads more of it. */
export function Section({ title, what, polled, actions, children }: Props) {
  return (
    <section class="section">
      <header class="section-header">
        <h2>{title}</h2>
        <div class="section-actions">{actions}</div>
      </header>
      <FailureLine failure={polled.failure} what={what} hasOlder={polled.body !== undefined} />
      {polled.body === undefined && polled.failure === undefined && <p role="status">Loading …</p>}
      {children}
      {polled.loadMore && (
        <button type="button" class="button" onClick={polled.loadMore}>
          Show older
        </button>
      )}
    </section>
  );
}
