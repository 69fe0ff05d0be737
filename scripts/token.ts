/** `npm run token`: makes an admin token, which it writes nowhere but to the terminal. */
import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { runCommand } from "./command.ts";
import { newAdminToken } from "./new-admin-token.ts";

const HELP = `Usage: npm run token -- --id NAME [options]

Makes a token for the admin routes. The service is given its hash only; the token itself is shown
once, here, and kept nowhere.

  --id NAME            who will use it; the audit shows this name
  --scopes LIST        read, operate, or read,operate (default read)
  --expires DATE       until when it is valid, such as 2027-06-30 (default: forever)
  --secrets-file FILE  make the file of a first "wrangler deploy --secrets-file FILE", with this entry only
  --help               this text
`;

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
  const line = JSON.stringify(made.entry);
  if (file !== undefined) {
    if (existsSync(file)) return fail(`${file} exists already: delete it, or name another file`);
    writeFileSync(file, JSON.stringify({ ADMIN_TOKENS: `[${line}]` }));
  }
  process.stdout
    .write(`The token of "${made.entry.id}" (${made.entry.scopes.join(", ")}), shown once:

  ${made.text}

Its entry of the secret ADMIN_TOKENS:

  ${line}

The secret is the JSON list of all entries. Keep the others in it, or their tokens end:

  npx wrangler secret put ADMIN_TOKENS
  [${line}]

Try it:  curl -H "Authorization: Bearer $TOKEN" https://<host>/admin/monitor/status
`);
}

function fail(problem: string): void {
  process.stderr.write(`${problem}\n\n${HELP}`);
  process.exitCode = 1;
}

await runCommand(HELP, async () => main());
