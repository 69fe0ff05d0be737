/** Whether an operator's `force` overrides each guard. */
export const OVERRIDABLE = {
  guard_empty: false,
  guard_integrity: false,
  guard_truncated: true,
  guard_padded: true,
  guard_shrink: true,
  guard_change: true,
  guard_rejects: false,
  guard_coverage: true,
  guard_message_size: false,
} as const;

export type Guard = keyof typeof OVERRIDABLE;

export const OVERRIDDEN = Object.entries(OVERRIDABLE).flatMap(([guard, is]) => (is ? [guard] : []));

export const FORCE_EFFECT = `Overrides the guards ${OVERRIDDEN.map((guard) => guard.replace("guard_", "")).join(", ")}.`;
