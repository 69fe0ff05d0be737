import { formatDuration } from "../../src/platform/durations.ts";
import { formatBytes, formatHash } from "../shared/format.ts";
import type { CallFacts } from "./use-catalog.ts";
import type { Transfer } from "./wire.ts";

interface Props {
  readonly facts: CallFacts | undefined;
  readonly isCalling: boolean;
  readonly hasFailed: boolean;
}

/** Shows the duration and the size of the last call. */
export function CallFactsList({ facts, isCalling, hasFailed }: Props) {
  return (
    <dl
      class={`call-facts ${isCalling ? "is-stale" : ""}`}
      aria-live="polite"
      aria-busy={isCalling}
    >
      {listFacts(facts, hasFailed).map(([name, value, note]) => (
        <div key={name} class="call-fact">
          <dt>{name}</dt>
          <dd>
            {value ?? "–"}
            <small>{note}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The last call in a line: "200, 394 KB, 1.1 s". */
export function callText({ exchange, transfer, totalMs }: CallFacts): string {
  const wire = transfer && formatBytes(transfer.wireBytes);
  return [exchange?.status, wire, formatDuration(totalMs)]
    .filter((part) => part !== undefined)
    .join(", ");
}

type Fact = [name: string, value: string | null | undefined, smallPrint: string | undefined];

function listFacts(facts: CallFacts | undefined, hasFailed: boolean): Fact[] {
  const { exchange, transfer, totalMs } = facts ?? {};
  const header = (name: string) => exchange?.headers.get(name);
  const status = exchange && `${exchange.status} ${hasFailed ? "failed" : "ok"}`;
  const fallback = header("locale-fallback");
  const sha256 = header("catalog-sha256");
  return [
    ["Status", status, exchange?.isStored ? "kept on this device" : exchange?.method],
    [
      "Shown after",
      totalMs === undefined ? null : formatDuration(totalMs),
      transfer && `received in ${formatDuration(transfer.lastByteMs)}`,
    ],
    ["On the wire", transfer && formatBytes(transfer.wireBytes), transfer && wireNote(transfer)],
    ["Compression", exchange && (header("content-encoding") ?? "none"), ratioNote(transfer)],
    [
      "Language",
      header("content-language"),
      fallback === "default" ? "no closer one is published" : "",
    ],
    ["Version", header("catalog-version"), sha256 ? formatHash(sha256) : ""],
  ];
}

function wireNote(transfer: Transfer): string {
  const { wireBytes, encodedBytes, decodedBytes } = transfer;
  if (wireBytes === 0) return "from the browser's cache";
  if (wireBytes < encodedBytes) return "not modified";
  return `${formatBytes(decodedBytes)} decoded`;
}

/** Says nothing of an answer that did not come over the wire this time. */
function ratioNote(transfer: Transfer | undefined): string {
  if (transfer === undefined || transfer.wireBytes < transfer.encodedBytes) return "";
  const ratio = transfer.decodedBytes / transfer.encodedBytes;
  return ratio > 1.05 ? `${ratio.toFixed(1)} times smaller` : "";
}
