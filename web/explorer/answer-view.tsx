import { useEffect, useState } from "preact/hooks";
import { formatBytes, formatCount } from "../shared/format.ts";
import { Segmented } from "../shared/segmented.tsx";
import type { Place } from "../../client/src/catalog.ts";
import type { CallSettings } from "./permalink.ts";
import type { PlaceMessage } from "./place-messages.ts";
import type { CatalogPort } from "./use-catalog.ts";

interface Props {
  readonly place: Place;
  /** The encoding of the call. */
  readonly encoding: CallSettings["encoding"];
  readonly port: Pick<CatalogPort, "catalog" | "facts">;
}

const ENCODING_NAMES = { json: "JSON", proto: "Protobuf" } as const;

/** Shows the messages of a place in the answer, with those that it is joined with. */
export function AnswerView({ place, encoding, port }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState(encoding);
  const [joined, setJoined] = useState<readonly PlaceMessage[]>([]);
  const bytesOfAnswer = port.catalog?.bytes;
  useEffect(() => {
    if (!isOpen || bytesOfAnswer === undefined) return undefined;
    const left = new AbortController();
    // The page itself parses no protobuf before.
    void import("./place-messages.ts").then(
      ({ messagesIn }) => left.signal.aborted || setJoined(messagesIn(bytesOfAnswer, place)),
    );
    return () => left.abort();
  }, [isOpen, place, bytesOfAnswer]);
  const bytes = joined.reduce((sum, message) => sum + message.bytes[shown], 0);
  return (
    <details
      class="answer"
      lang="en"
      dir="ltr"
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>The answer itself</summary>
      {joined.length > 0 && (
        <div class="stack">
          <Segmented legend="As" choices={ENCODING_NAMES} value={shown} onChange={setShown} />
          <p class="hint">
            {joined.length === 1 ? "1 message" : `${joined.length} joined messages`},{" "}
            {formatCount(bytes)} bytes in {ENCODING_NAMES[shown]}
            {costText(bytes, shown === encoding ? port.facts : undefined)}
          </p>
          {joined.map((message) => (
            <section key={message.path} class="message">
              <h2>
                <code>{message.path}</code> <small>{formatCount(message.bytes[shown])} bytes</small>
              </h2>
              {message.via !== "" && (
                <p class="hint">
                  joined by <code>{message.via}</code>
                </p>
              )}
              <pre class="code-block" tabIndex={0} aria-label={message.path}>
                <code>{message[shown]}</code>
              </pre>
            </section>
          ))}
        </div>
      )}
    </details>
  );
}

/** Estimates these bytes on the wire by the compression of the whole answer. */
function costText(bytes: number, facts: CatalogPort["facts"]): string {
  const transfer = facts?.transfer;
  if (!transfer || transfer.decodedBytes === 0) return "";
  const wire = Math.ceil((bytes * transfer.encodedBytes) / transfer.decodedBytes);
  return `, of ${formatBytes(transfer.decodedBytes)}. Compressed with the rest, about ${formatCount(wire)} bytes.`;
}
