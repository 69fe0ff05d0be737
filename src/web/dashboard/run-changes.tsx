import { useEffect, useState } from "preact/hooks";
import { type AdminResult, askAdmin } from "./admin-client.ts";
import type { Run, RunDetail } from "./answers.ts";
import { DiffLists } from "./diff-view.tsx";
import { FailureLine } from "./failure-line.tsx";

/** Shows the first entities that a run changes or would change, before and after. */
export function RunChanges({ run: { id, state } }: { run: Pick<Run, "id" | "state"> }) {
  const [result, setResult] = useState<AdminResult<RunDetail>>();
  useEffect(() => {
    const left = new AbortController();
    const ask = async () => {
      const path = `/admin/ingest/runs/${id}`;
      const answer = await askAdmin<RunDetail>({ path, signal: left.signal });
      if (!left.signal.aborted) setResult(answer);
    };
    void ask();
    return () => left.abort();
  }, [id, state]);
  if (result === undefined) return <p role="status">Reading what it changes …</p>;
  if (!result.ok)
    return <FailureLine failure={result.failure} what="list of changes" hasOlder={false} />;
  const { changes } = result.body;
  if (changes === null) return null;
  return (
    <div class="diff" data-changes={id}>
      <h3>
        Changes <span class="count">the first ten of each kind</span>
      </h3>
      <DiffLists diff={changes} same="It changes nothing in what is published." />
    </div>
  );
}
