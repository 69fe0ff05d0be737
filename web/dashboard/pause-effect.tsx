import type { PauseState } from "./answers.ts";
import { FailureLine } from "./failure-line.tsx";
import { Time } from "./time.tsx";
import { usePoll } from "./use-poll.ts";

const EVERY_MS = 10_000;

/** Describes the effect on the pause. */
export function PauseEffect({ of }: { readonly of: "rollback" | "restore" }) {
  const polled = usePoll<PauseState>("/admin/ingest/pause", EVERY_MS);
  if (polled.body === undefined) return <FailureLine polled={polled} what="pause" />;
  const { paused, until } = polled.body;
  if (of === "restore")
    return (
      <p>
        {paused ? "Ingestion stays paused" : "Ingestion is paused afterwards"}, until somebody
        resumes it.
        {until !== null && (
          <>
            {" "}
            That the pause ends <Time at={until} /> no longer holds.
          </>
        )}
      </p>
    );
  if (!paused)
    return <p>Ingestion is not paused: the next run may publish something else. Pause it first.</p>;
  return (
    <p>
      Ingestion is paused, so this version stays until{" "}
      {until === null ? (
        "somebody resumes it."
      ) : (
        <>
          the pause ends <Time at={until} />.
        </>
      )}
    </p>
  );
}
