import * as z from "zod";
import { timestamp } from "../../catalog/fields.ts";
import { timeText } from "../../storage/time.ts";
import { SCOPES } from "../../credentials.ts";
import { route } from "../http/route.ts";

const identity = z
  .strictObject({
    id: z.string().meta({ description: "The `actor` in the audit." }),
    scopes: z.array(z.enum(SCOPES)),
    expires_at: timestamp.nullable().meta({ description: "Null if the token does not expire." }),
  })
  .meta({ id: "Identity" });

/** `GET /admin/whoami` */
export function whoamiRoutes() {
  const whoami = route({
    method: "get",
    path: "/admin/whoami",
    summary: "Whose credential this is, and what it permits",
    access: "read",
    responses: { 200: { description: "The credential", body: identity } },
  }).answer(async ({ actor: { id, scopes, expiresAt } }) => {
    const expires_at = expiresAt === null ? null : timeText(expiresAt);
    return { status: 200, body: { id, scopes, expires_at } };
  });
  return [whoami];
}
