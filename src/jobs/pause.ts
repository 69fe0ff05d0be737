/** The pause flag, which stops dispatch and publishing until an operator or `until` lifts it. */
export interface Pause {
  /** RFC 3339. */
  readonly at: string;
  readonly by: string;
  readonly reason: string | null;
  /** RFC 3339; null if only an operator lifts it. */
  readonly until: string | null;
}

export interface PauseRequest {
  readonly by: string;
  readonly reason: string | null;
  /** As in a pause; left out, the end of the present pause stays. */
  readonly until?: string | null;
}

/**
 * The pause after a pause request. Asking for what is so already changes nothing; another reason
 * or end replaces those of the present pause, which keeps its beginning and what is not named. An
 * end of null leaves the end to an operator.
 */
export function decidePause(
  present: Pause | null,
  request: PauseRequest,
  at: string,
): { readonly pause: Pause; readonly changed: boolean } {
  const reason = request.reason ?? present?.reason ?? null;
  const until = request.until === undefined ? (present?.until ?? null) : request.until;
  const { by } = request;
  if (present === null) return { pause: { at, by, reason, until }, changed: true };
  if (present.reason === reason && present.until === until)
    return { pause: present, changed: false };
  return { pause: { ...present, by, reason, until }, changed: true };
}

/** Whether a pause has ended by itself. */
export function hasEnded(pause: Pause, now: number): boolean {
  return pause.until !== null && Date.parse(pause.until) <= now;
}
