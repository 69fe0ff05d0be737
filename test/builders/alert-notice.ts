import type { Notice } from "../../src/alerts/notice.ts";

export function aNotice(changes: Partial<Notice> = {}): Notice {
  return {
    change: "fired",
    rule: "catalog_stale",
    fingerprint: "00112233445566aa",
    labels: {},
    severity: "fail",
    message: "The catalog was last compared with upstream 1 d 7 h ago.",
    value: 111_600_000,
    threshold: 108_000_000,
    unit: "ms",
    evidence: { generation: 7 },
    startsAt: "2026-11-20T11:55:00.000Z",
    deliveredAt: null,
    endsAt: null,
    ...changes,
  };
}
