import { useId } from "preact/hooks";

interface Props<T extends string> {
  readonly legend: string;
  readonly choices: { readonly [choice in T]: string };
  readonly value: T;
  readonly onChange: (value: T) => void;
}

/** A row of radio buttons for a few choices. */
export function Segmented<T extends string>({ legend, choices, value, onChange }: Props<T>) {
  const name = useId();
  const names = Object.keys(choices) as T[]; // the keys of a mapped type over T
  return (
    <fieldset class="segmented">
      <legend>{legend}</legend>
      <div class="segments">
        {names.map((choice) => (
          <label key={choice} class="segment">
            <input
              type="radio"
              name={name}
              value={choice}
              checked={choice === value}
              onChange={() => onChange(choice)}
            />
            <span>{choices[choice]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
