import { formatAge } from "../shared/format.ts";
import type { AuditPage } from "./answers.ts";
import { FailureLine } from "./failure-line.tsx";
import { Section } from "./section.tsx";
import { Table } from "./table.tsx";
import { usePoll } from "./use-poll.ts";

const EVERY_MS = 10_000;

/** The audit: who changed what. */
export function AuditSection({ now }: { now: number }) {
  const { body, failure } = usePoll<AuditPage>("/admin/audit", EVERY_MS);
  return (
    <Section title="Audit">
      <FailureLine failure={failure} what="audit" hasOlder={body !== undefined} />
      {body && (
        <Table label="Audit" columns={["When", "Who", "Action", "Target", "Outcome"]}>
          {body.entries.map((entry) => (
            <tr key={entry.id}>
              <td title={entry.at}>{formatAge(entry.at, now)}</td>
              <td>{entry.actor}</td>
              <td>
                <code>{entry.action}</code>
              </td>
              <td>{entry.target ?? ""}</td>
              <td>{entry.outcome ?? ""}</td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}
