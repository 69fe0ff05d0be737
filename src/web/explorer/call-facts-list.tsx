import { formatBytes, formatDuration } from "../shared/format.ts";
import type { CallFacts } from "./call.ts";
import type { Exchange, Transfer } from "./recorded-fetch.ts";

interface Props {
  readonly facts: CallFacts | undefined;
  readonly isCalling: boolean;
  readonly hasFailed: boolean;
}

interface Fact {
  readonly name: string;
  readonly value: string;
  /** Details in small print. */
  readonly note: string;
}

/** Shows the duration and the size of the last call. */
export function CallFactsList({ facts, isCalling, hasFailed }: Props) {
  return (
    <dl
      class={`call-facts ${isCalling ? "is-stale" : ""}`}
      aria-live="polite"
      aria-busy={isCalling}
    >
      {listFacts(facts, hasFailed).map(({ name, value, note }) => (
        <div key={name} class="call-fact">
          <dt>{name}</dt>
          <dd>
            {value}
            <small>{note}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function listFacts(facts: CallFacts | undefined, hasFailed: boolean): Fact[] {
  const { exchange, transfer } = facts ?? {};
  return [
    statusFact(exchange, hasFailed),
    timeFact(facts),
    wireFact(transfer),
    codingFact(exchange, transfer),
    languageFact(exchange),
    versionFact(exchange),
  ];
}

function statusFact(exchange: Exchange | undefined, hasFailed: boolean): Fact {
  const outcome = hasFailed ? "failed" : "ok";
  const value = exchange === undefined ? "–" : `${exchange.status} ${outcome}`;
  return { name: "Status", value, note: exchange?.method ?? "" };
}

function timeFact(facts: CallFacts | undefined): Fact {
  if (facts === undefined) return { name: "Time", value: "–", note: "" };
  const { totalMs, transfer } = facts;
  const note = transfer ? `answered in ${formatDuration(transfer.lastByteMs)}` : "";
  return { name: "Time", value: formatDuration(totalMs), note };
}

function wireFact(transfer: Transfer | undefined): Fact {
  if (transfer === undefined) return { name: "On the wire", value: "–", note: "" };
  return {
    name: "On the wire",
    value: formatBytes(transfer.wireBytes),
    note: wireNote(transfer),
  };
}

function wireNote({ wireBytes, encodedBytes, decodedBytes }: Transfer): string {
  if (wireBytes === 0) return "from the browser's cache";
  if (wireBytes < encodedBytes) return "not modified";
  return `${formatBytes(decodedBytes)} decoded`;
}

function codingFact(exchange: Exchange | undefined, transfer: Transfer | undefined): Fact {
  const coding = exchange?.headers.get("content-encoding") ?? "identity";
  const ratio =
    transfer && transfer.encodedBytes > 0 && transfer.decodedBytes / transfer.encodedBytes;
  const note = ratio && ratio > 1.05 ? `${ratio.toFixed(1)} times smaller` : "";
  return { name: "Coding", value: exchange === undefined ? "–" : coding, note };
}

function languageFact(exchange: Exchange | undefined): Fact {
  const fallback = exchange?.headers.get("locale-fallback");
  return {
    name: "Language",
    value: exchange?.headers.get("content-language") ?? "–",
    note: fallback ? `fallback: ${fallback}` : "",
  };
}

function versionFact(exchange: Exchange | undefined): Fact {
  const version = exchange?.headers.get("catalog-version");
  const sha256 = exchange?.headers.get("catalog-sha256");
  return { name: "Version", value: version ?? "–", note: sha256 ? sha256.slice(0, 12) : "" };
}
