import { timeText } from "../storage/time-text.ts";
import { describeDuration } from "./durations.ts";
import type { Facts, TokenFacts } from "./facts.ts";
import { type Finding, measured, type RuleContext } from "./rule.ts";

/** Time before the end of a token at which a warning begins. */
export const TOKEN_WARNING_MS = 14 * 24 * 60 * 60_000;

/** Judges whether the admin tokens stay valid. */
export function judgeTokens({ monitor }: Facts, context: RuleContext): Finding {
  return judgeExpiry(monitor.tokens, context);
}

/** Counts the tokens that expire within 14 days, or have expired and are configured still. */
export function judgeExpiry(
  tokens: readonly TokenFacts[],
  { now }: Pick<RuleContext, "now">,
): Finding {
  const ending = tokens.flatMap(({ id, expiresAt }) =>
    expiresAt === null || expiresAt - now > TOKEN_WARNING_MS ? [] : [{ id, expiresAt }],
  );
  const sentences = ending.map(({ id, expiresAt }) =>
    expiresAt > now
      ? `The admin token "${id}" expires in ${describeDuration(expiresAt - now)}.`
      : `The admin token "${id}" has expired.`,
  );
  return measured({
    value: ending.length,
    threshold: 1,
    unit: "tokens",
    message: sentences.join(" ") || "No admin token expires soon.",
    evidence: {
      tokens: ending.map(({ id, expiresAt }) => ({ id, expires_at: timeText(expiresAt) })),
    },
  });
}
