import * as z from "zod";
import { parseLocale } from "../../catalog/locale.ts";
import { settledWithin } from "../../platform/deadline.ts";
import { decompressWhole } from "../../parts/codings.ts";
import { findVersion } from "../../rpc/look-up.ts";
import { matchesEntityTag } from "../../rpc/preconditions.ts";
import { namesSchema } from "../../schemas/names.ts";
import type { AdminPlatform } from "../admin-platform.ts";
import { type Refusal, route } from "../http/route.ts";
import { CACHING, localeField, localeIn, UNREADABLE } from "./diff-routes.ts";

const NAMES_DEADLINE_MS = 5_000;

const namesQuery = z.strictObject({
  locale: localeField,
  v: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "must be a SHA-256")
    .meta({ description: "`Catalog-Sha256` of the catalog in this locale, as a HEAD says it." }),
});

/** `GET /catalog/names`: the packed names, which turn the catalog in another language into that of a locale. */
export function namesRoutes({ reader, defaultLocale }: AdminPlatform) {
  const names = route({
    method: "get",
    path: "/catalog/names",
    operationId: "getCatalogNames",
    summary: "What to change in a catalog to have it in another language",
    description:
      "The names and slugs of the regions, all that differs between two languages of one version. Fetch the whole catalog if the answer is 404, or if the SHA-256 of the result is not `v`.",
    access: "public",
    query: namesQuery,
    responses: {
      200: { description: "The names", headers: CACHING, body: namesSchema },
      304: { description: "The names match the ETag that was sent", headers: CACHING },
    },
    problems: {
      404: "`version_not_retained`, `names_not_stored`: fetch the whole catalog",
      503: "`catalog_unreadable`: the stores do not answer",
    },
  }).answer(async ({ query, codings, headers }) => {
    const wanted = { ...query, defaultLocale };
    const isEncoded = codings[0] === "br";
    const ifNoneMatch = headers.get("if-none-match") ?? "";
    const answer = answerNames(reader, wanted, { isEncoded, ifNoneMatch });
    return settledWithin(NAMES_DEADLINE_MS, answer, () => UNREADABLE);
  });
  return [names];
}

interface WantedNames extends z.output<typeof namesQuery> {
  readonly defaultLocale: string;
}

async function answerNames(
  reader: AdminPlatform["reader"],
  wanted: WantedNames,
  { isEncoded, ifNoneMatch }: { readonly isEncoded: boolean; readonly ifNoneMatch: string },
) {
  const { v: pin, defaultLocale } = wanted;
  const current = await reader.current();
  if (!current.ok) return UNREADABLE;
  const parsed = parseLocale(wanted.locale);
  const query = { pin, tag: parsed.ok ? parsed.tag : "" };
  const version = await findVersion({ reader, defaultLocale }, query, current.manifest);
  if (!version.ok) return version.reason === "unavailable" ? UNREADABLE : NOT_RETAINED;
  const locale = localeIn(version.manifest, wanted);
  const blob = version.manifest.locales[locale]?.names?.sha256;
  if (blob === undefined) return NOT_STORED;
  const shared = {
    etag: `W/"${blob}"`,
    "cache-control": "public, max-age=31536000, immutable",
    "content-language": locale,
    vary: "Accept-Encoding",
  };
  if (matchesEntityTag(ifNoneMatch, shared.etag)) return { status: 304 as const, headers: shared };
  const copy = await reader.blob(blob);
  if (!copy.ok) return copy.fault === "unreadable" ? UNREADABLE : NOT_STORED;
  const bytes = new Uint8Array(await copy.value.arrayBuffer());
  const body = isEncoded ? bytes : decompressWhole(bytes);
  if (body === undefined) return NOT_STORED;
  const headers = { ...shared, ...(isEncoded && { "content-encoding": "br" }) };
  return { status: 200 as const, body: Uint8Array.from(body).buffer, headers };
}

function refusal(code: string, why: string): Refusal {
  const detail = `${why} Fetch the whole catalog.`;
  return { problem: { status: 404, code, detail } };
}

const NOT_RETAINED = refusal(
  "version_not_retained",
  "No retained version has this hash in this locale.",
);
const NOT_STORED = refusal("names_not_stored", "The names of this version are not stored.");
