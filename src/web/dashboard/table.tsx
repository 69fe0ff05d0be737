import type { ComponentChildren } from "preact";

interface Props {
  readonly label: string;
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
}

/** A table that scrolls sideways if it is too wide. */
export function Table({ label, columns, children }: Props) {
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label={label}>
      <table class="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
