import type { ComponentChildren } from "preact";

interface Props {
  readonly title: string;
  /** Buttons to the right of the title. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A titled part of the dashboard. */
export function Section({ title, actions, children }: Props) {
  return (
    <section class="section">
      <header class="section-header">
        <h2>{title}</h2>
        <div class="section-actions">{actions}</div>
      </header>
      {children}
    </section>
  );
}
