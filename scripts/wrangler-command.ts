/** What to say of the wrangler command for which the pages are built. */
import { existsSync } from "node:fs";

type Variables = Readonly<Partial<Record<string, string>>>;

/** The variable that lets wrangler upload the Worker, for commands that know what they do. */
export const MAY_UPLOAD = { ALLOW_WRANGLER_DEPLOY: "yes" };

const USE_THE_SCRIPT = `
Deploy with the script, which applies the migrations, keeps the address and asks for an ingest:

  npm run deploy -- --help

A bare "wrangler deploy" would publish this machine's settings under production's name. Nothing was
deployed.
`;

const NEXT_STEPS = `
Everything in one command: npm start. To go on with wrangler dev alone, stop it and start it again
after these two:

  cp .dev.vars.example .dev.vars                           # an admin token
  npx wrangler d1 migrations apply HISTORY --local --env=  # the tables

Then, in another shell:

  curl http://localhost:8787/cdn-cgi/local/scheduled  # an ingest, which takes half a minute
  curl http://localhost:8787/catalog/health           # whether the catalog is there
`;

/**
 * Advice for the wrangler command that builds; wrangler names it in WRANGLER_COMMAND.
 *
 * @returns undefined where there is nothing to say.
 */
export function advice(
  variables: Variables,
  fileExists: (name: string) => boolean = existsSync,
): { readonly text: string; readonly refused: boolean } | undefined {
  const { WRANGLER_COMMAND: command, ALLOW_WRANGLER_DEPLOY: allowed } = variables;
  if (command === "deploy" || command === "versions upload")
    return allowed === undefined ? { text: USE_THE_SCRIPT, refused: true } : undefined;
  const isUnattended = variables["CI"] !== undefined;
  const isReady = variables["ADMIN_TOKENS"] !== undefined || fileExists(".dev.vars");
  return command === "dev" && !isReady && !isUnattended
    ? { text: NEXT_STEPS, refused: false }
    : undefined;
}
