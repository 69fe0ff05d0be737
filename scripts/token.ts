/** `npm run token`: makes an admin token, which it writes nowhere but to the terminal. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { z } from "zod";
import { readCredentials } from "../src/platform/credentials.ts";
import { parseJson } from "../src/platform/parse-json.ts";
import { CommandError, runCommand } from "./command.ts";
import { joinTokens } from "./local-admin-token.ts";
import { newAdminToken } from "./new-admin-token.ts";

const HELP = `Usage: npm run token -- --id NAME [options]

Makes a token for the admin routes. The service is given its hash only; the token itself is shown
once, here, and kept nowhere.

  --id NAME            who will use it; the audit shows this name
  --scopes LIST        read, operate, or read,operate (default read)
  --expires DATE       until when it is valid, such as 2027-06-30 (default: forever)
  --secrets-file FILE  add its hash to the secret ADMIN_TOKENS in FILE, which is made if it is not
                       there, for "wrangler deploy --secrets-file FILE" or "wrangler secret bulk FILE"
  --help               this text
`;

const secretsFile = z.record(z.string(), z.string().nullable());

function main(): void {
  const { values } = parseArgs({
    options: {
      id: { type: "string" },
      scopes: { type: "string" },
      expires: { type: "string" },
      "secrets-file": { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  const { id, scopes, expires, "secrets-file": file } = values;
  const made = newAdminToken({ id, scopes, expires }, Date.now());
  if (!made.ok) return fail(made.problem);
  const entry = JSON.stringify(made.entry);
  const next = file === undefined ? sayEntry(entry) : addToFile(file, entry);
  process.stdout
    .write(`The token of "${made.entry.id}" (${made.entry.scopes.join(", ")}), shown once:

  ${made.text}

${next}
Then try it:  curl -H "Authorization: Bearer $TOKEN" https://<host>/admin/monitor/status
`);
}

function sayEntry(entry: string): string {
  return `Its entry of the secret ADMIN_TOKENS:

  ${entry}

The secret is the JSON list of all entries. Keep the others in it, or their tokens end:

  npx wrangler secret put ADMIN_TOKENS
  [${entry}]
`;
}

/** @returns what to do next. @throws CommandError if the file cannot be used; it stays as it is. */
function addToFile(file: string, entry: string): string {
  if (file === "") throw new CommandError("--secrets-file must name a file");
  const isThere = existsSync(file);
  try {
    const secrets = secretsFile.parse(isThere ? parseJson(readFileSync(file, "utf8")) : {});
    const before = secrets["ADMIN_TOKENS"] ?? "[]";
    const { problem } = readCredentials({ ADMIN_TOKENS: before });
    if (problem !== null) throw new CommandError(problem);
    const ADMIN_TOKENS = joinTokens(before, `[${entry}]`);
    const { tokens } = readCredentials({ ADMIN_TOKENS }).credentials;
    const json = `${JSON.stringify({ ...secrets, ADMIN_TOKENS }, null, 2)}\n`;
    // A link stays one. A file that exists would keep its mode.
    const place = isThere ? realpathSync(file) : file;
    const next = `${place}.${randomUUID()}`;
    writeFileSync(next, json, { mode: 0o600, flag: "wx" });
    renameSync(next, place);
    return describeFile(file, isThere ? "Added" : "Wrote", tokens);
  } catch (error) {
    const isOther = error instanceof z.ZodError;
    const why = isOther ? "it is not JSON of secrets by their names" : messageOf(error);
    throw new CommandError(`${file} cannot be used (${why}). Correct it, or name another file.`);
  }
}

function describeFile(file: string, did: string, tokens: readonly { readonly id: string }[]) {
  const ids = tokens.map(({ id }) => id).join(", ");
  return `${did} its hash to ${file}, whose ADMIN_TOKENS lists: ${ids}
Keep the file: Cloudflare does not show a secret again. Now set it:

  npx wrangler deploy --env="" --secrets-file ${quoted(file)}   # with the code, as at first
  npx wrangler secret bulk ${quoted(file)} --env=""             # alone, where the service runs already
`;
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function fail(problem: string): void {
  process.stderr.write(`${problem}\n\n${HELP}`);
  process.exitCode = 1;
}

await runCommand(HELP, async () => main());
