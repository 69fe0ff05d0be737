import { Segmented } from "../shared/segmented.tsx";
import { CallFactsList, callText } from "./call-facts-list.tsx";
import { CopyCall } from "./copy-call.tsx";
import type { CallSettings } from "./permalink.ts";
import type { CallFacts } from "./use-catalog.ts";

interface Props {
  readonly settings: CallSettings;
  readonly facts: CallFacts | undefined;
  readonly isCalling: boolean;
  readonly hasFailed: boolean;
  readonly onChange: (change: Partial<CallSettings>) => void;
  readonly onCall: () => void;
}

const PROTOCOL_NAMES = {
  "connect-get": "Connect GET",
  connect: "Connect",
  "grpc-web": "gRPC-Web",
} as const;
const ENCODING_NAMES = { proto: "Protobuf", json: "JSON" } as const;

/** Sets up the call and shows its result, for developers: in English, and folded into a line at first. */
export function CallPanel({ settings, facts, isCalling, hasFailed, onChange, onCall }: Props) {
  return (
    <details class="call" lang="en" dir="ltr">
      <summary>
        <b>The call</b> {PROTOCOL_NAMES[settings.protocol]} in {ENCODING_NAMES[settings.encoding]}
        {facts?.exchange && <>: {callText(facts)}</>}
      </summary>
      <div class="row call-controls">
        <Segmented
          legend="Protocol"
          choices={PROTOCOL_NAMES}
          value={settings.protocol}
          onChange={(protocol) => onChange({ protocol })}
        />
        <Segmented
          legend="Encoding"
          choices={ENCODING_NAMES}
          value={settings.encoding}
          onChange={(encoding) => onChange({ encoding })}
        />
        <button type="button" class="button button-main" disabled={isCalling} onClick={onCall}>
          {isCalling ? "Calling …" : "Call again"}
        </button>
      </div>
      <CallFactsList facts={facts} isCalling={isCalling} hasFailed={hasFailed} />
      <CopyCall settings={settings} />
    </details>
  );
}
