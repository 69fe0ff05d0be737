import type { ComponentChildren } from "preact";

interface TableRow {
  readonly key: string;
  /** As many as there are columns. The first one is the row's heading. */
  readonly cells: readonly ComponentChildren[];
}

interface Props {
  readonly label: string;
  /** A column without a name has the row's buttons. */
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
  /** What to do where there are none. */
  readonly advice?: string;
}

/**
 * A table. On a phone, each row is a card that names its cells. The roles stay where the style
 * sheet makes blocks of its parts.
 */
export function Table({ label, columns: names, rows, advice = "" }: Props) {
  if (rows.length === 0) return <p class="hint">There are none. {advice}</p>;
  const columns = names.map((name) => `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`);
  return (
    <table class="table" role="table" aria-label={label}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <th key={column} role="columnheader" scope="col">
              {column || <span class="visually-hidden">Actions</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map(({ key, cells }) => (
          <tr key={key} role="row" data-key={key}>
            {cells.map((cell, index) =>
              index === 0 ? (
                <th key={columns[index]} role="rowheader" scope="row">
                  {cell}
                </th>
              ) : (
                <td key={columns[index]} role="cell" data-label={columns[index]}>
                  {cell}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface ButtonProps {
  readonly children: ComponentChildren;
  /** The subject of the row, for screen readers. */
  readonly about: string;
  readonly onClick: () => void;
}

/** A button in a row. */
export function RowButton({ children, about, onClick }: ButtonProps) {
  return (
    <button type="button" class="link-button" onClick={onClick}>
      {children}
      <span class="visually-hidden"> {about}</span>
    </button>
  );
}
