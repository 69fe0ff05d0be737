import { timeText } from "../../platform/time.ts";
import { route } from "../http/route.ts";
import { identitySchema } from "./identity.ts";

export function whoamiRoutes() {
  const whoami = route({
    method: "get",
    path: "/admin/whoami",
    operationId: "getIdentity",
    summary: "The name and the permissions of the credential",
    description: "To check a credential, and to see when it expires.",
    access: "read",
    responses: { 200: { description: "The credential", body: identitySchema } },
  }).answer(async ({ actor: { id, scopes, expiresAt } }) => {
    const expires_at = expiresAt === null ? null : timeText(expiresAt);
    return { status: 200, body: { id, scopes, expires_at } };
  });
  return [whoami];
}
