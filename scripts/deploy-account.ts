import { z } from "zod";
import { WHO_AM_I } from "./deploy-commands.ts";
import { DeployError } from "./deploy-error.ts";
import { parseJson } from "../src/parse-json.ts";
import type { Wrangler } from "./wrangler.ts";

const answer = z.discriminatedUnion("loggedIn", [
  z.object({ loggedIn: z.literal(false) }),
  z.object({
    loggedIn: z.literal(true),
    accounts: z.array(z.object({ id: z.string(), name: z.string() })),
  }),
]);

/**
 * The one Cloudflare account that wrangler would deploy to.
 *
 * @param chosen id of the account that the user chose, if any (CLOUDFLARE_ACCOUNT_ID).
 * @throws DeployError if nobody is logged in, or if it is open which account is meant.
 */
export async function findAccount(wrangler: Wrangler, chosen: string | undefined): Promise<string> {
  const { stdout, lastLines } = await wrangler(WHO_AM_I);
  const parsed = answer.safeParse(parseJson(stdout));
  if (!parsed.success)
    throw new DeployError(
      `Whether wrangler is logged in could not be found out. Is there a network? Wrangler says:\n${lastLines}`,
    );
  if (!parsed.data.loggedIn)
    throw new DeployError(
      "Wrangler is not logged in to Cloudflare. Run: npx wrangler login\nWhere there is no browser, set CLOUDFLARE_API_TOKEN to a token with the rights to edit Workers Scripts, KV, R2 and D1: https://dash.cloudflare.com/profile/api-tokens",
    );
  const { accounts } = parsed.data;
  // A token with few rights cannot list the accounts that it is good for.
  if (accounts.length === 0 && chosen !== undefined) return chosen;
  const wanted = chosen === undefined ? accounts : accounts.filter(({ id }) => id === chosen);
  const [account, ...others] = wanted;
  const list = accounts.map(({ id, name }) => `  ${id}  ${name}`).join("\n");
  if (chosen === undefined && account === undefined)
    throw new DeployError(
      "Wrangler cannot see which account it may deploy to. Set CLOUDFLARE_ACCOUNT_ID; the dashboard shows it: https://dash.cloudflare.com/?to=/:account/workers",
    );
  if (account === undefined)
    throw new DeployError(
      `CLOUDFLARE_ACCOUNT_ID is none of the accounts that wrangler is logged in to:\n${list}`,
    );
  if (others.length > 0)
    throw new DeployError(
      `Wrangler is logged in to several accounts. Set CLOUDFLARE_ACCOUNT_ID to the one to deploy to:\n${list}`,
    );
  return account.name;
}
