import * as z from "zod";
import { parseLocale } from "../../catalog/locale.ts";
import { suggestionSchema } from "../../schemas/suggestion.ts";
import { answerSuggestions } from "../../search/answer.ts";
import { HITS_MAX } from "../../search/shard.ts";
import { orUnavailable } from "../calls.ts";
import { route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import { CACHING, localeField } from "./diff-routes.ts";

const suggestQuery = z.strictObject({
  q: z.string().meta({
    description: "What is typed, of which 80 letters count. Nothing leads to nothing.",
    example: "mün",
  }),
  locale: localeField.meta({ description: "Locale of the names of cities and countries." }),
  limit: z.coerce.number().int().min(1).max(HITS_MAX).default(HITS_MAX).meta({
    description: "The most places in the answer.",
  }),
});

const suggestAnswer = z.strictObject({ suggestions: z.array(suggestionSchema) });

/** `GET /search/v1/suggest`: the first places that the package's search finds, for who downloads nothing. */
export function suggestRoutes({ suggest, defaultLocale }: AdminPlatform) {
  const suggestions = route({
    method: "get",
    path: "/search/v1/suggest",
    operationId: "suggestPlaces",
    summary: "The places that somebody may mean who has begun to type",
    description:
      "For clients that download nothing: the places of `/search/v1/served.json` that have a code, a name or a word of a name that begins so, in any language. A name other than the English one needs four letters, or two in Chinese, Japanese and Korean. The order is that of the package in English, which also forgives typos.",
    access: "public",
    query: suggestQuery,
    responses: {
      200: {
        description: "The places, best first",
        headers: CACHING,
        body: suggestAnswer,
      },
      304: { description: "The places match the ETag that was sent", headers: CACHING },
    },
    problems: { 503: "`search_unavailable`: the static assets do not answer" },
  }).answer(async ({ query: { q, locale, limit }, headers }) => {
    const parsed = parseLocale(locale);
    const tag = (parsed.ok && parsed.tag) || defaultLocale;
    const found = await orUnavailable("search", suggest({ typed: q, locale: tag, limit }));
    return answerSuggestions(found, headers);
  });
  return [suggestions];
}
