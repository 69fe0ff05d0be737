/** The only schema of who is signed in: the OpenAPI document and the page follow from it. */
import * as z from "zod";
import { type DeepReadonly, timestamp } from "../../schemas/fields.ts";
import { SCOPES } from "../../platform/credentials.ts";

export const identitySchema = z
  .strictObject({
    id: z.string().meta({ description: "The `actor` in the audit." }),
    scopes: z.array(z.enum(SCOPES)),
    expires_at: timestamp.nullable().meta({ description: "Null if the token does not expire." }),
  })
  .meta({ id: "Identity", description: "The credential of a request." });

export type Identity = DeepReadonly<z.output<typeof identitySchema>>;
