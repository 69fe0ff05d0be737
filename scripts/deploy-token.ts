import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { DeployError } from "./deploy-error.ts";
import type { Terminal } from "./terminal.ts";

/** The admin token of a deployment. */
export interface AdminToken {
  /** Undefined if the service has one that nobody gave here. */
  readonly text: string | undefined;
  /** Value of the secret ADMIN_TOKENS to set, which has only the hash; undefined to set none. */
  readonly secret: string | undefined;
  /** Whether it was made here and nobody has seen it yet: see `showToken`. */
  readonly isUnseen: boolean;
}

export interface TokenOptions {
  /** The variable ADMIN_TOKEN. */
  readonly given: string | undefined;
  /** File that has the token, or is to have it. */
  readonly file: string | undefined;
  /** Replace all tokens that the service has. */
  readonly replace: boolean;
}

/** What the Worker accepts as a bearer token (RFC 6750), and long enough not to be guessed. */
const TOKEN = /^[\x21-\x7e]{20,512}$/;

/**
 * Decides on the token: what the service has stays, unless it is to be replaced. A token that is
 * made is written to the file, or shown on the terminal once it is set, and nowhere else.
 *
 * @throws DeployError if a given token is no good, if nobody would learn a made one, or if the file
 *   for one that is to replace all others has a token already, which may be what leaked.
 */
export async function chooseToken(
  options: TokenOptions,
  service: { readonly hasSecret: boolean },
  terminal: Terminal,
): Promise<AdminToken> {
  const { file, replace } = options;
  const inFile = options.given === undefined ? readTokenFile(file) : undefined;
  if (replace && inFile !== undefined)
    throw new DeployError(
      `${file} holds a token; remove it or name another, for --new-token to make one. If that very token is to replace all others, give it in ADMIN_TOKEN.`,
    );
  const given = checkToken(options.given ?? inFile);
  if (replace && given !== undefined)
    terminal.say("  Admin token: the one in ADMIN_TOKEN becomes the only one; all others end.");
  if (service.hasSecret && !replace)
    return { text: given ?? (await ask(terminal)), secret: undefined, isUnseen: false };
  const text = given ?? makeToken(file, terminal);
  const isUnseen = given === undefined && file === undefined;
  return { text, secret: adminTokensSecret(text), isUnseen };
}

/** Shows a token that nobody has seen yet. Before its upload it would be void if that failed. */
export function showToken(
  { text, isUnseen }: AdminToken,
  isSet: "set" | "perhaps",
  { say }: Terminal,
): void {
  if (!isUnseen) return;
  const warning =
    isSet === "set"
      ? ""
      : "\n  It may be set although the upload did not end well; if it is not, the next run makes another.";
  say(`\n  Admin token, shown this once; keep it well:\n\n    ${text}\n${warning}`);
}

/** Value of the secret ADMIN_TOKENS that lets one token do everything. */
export function adminTokensSecret(token: string): string {
  const sha256 = createHash("sha256").update(token).digest("hex");
  return JSON.stringify([{ id: "operator", sha256, scopes: ["read", "operate"] }]);
}

async function ask(terminal: Terminal): Promise<string | undefined> {
  if (!terminal.isInteractive) return undefined;
  return checkToken(await terminal.askSecret("Admin token (Enter to queue no ingest): "));
}

function checkToken(text: string | undefined): string | undefined {
  const token = text?.trim() ?? "";
  if (token === "") return undefined;
  if (TOKEN.test(token)) return token;
  throw new DeployError(
    "The given admin token must have 20 to 512 visible ASCII characters without spaces, such as those of: openssl rand -base64 32",
  );
}

function readTokenFile(file: string | undefined): string | undefined {
  if (file === undefined || !existsSync(file)) return undefined;
  const text = readFileSync(file, "utf8");
  if (text.trim() === "")
    throw new DeployError(`${file} is empty. Remove it, or name another file.`);
  return text;
}

function makeToken(file: string | undefined, terminal: Terminal): string {
  const token = randomBytes(32).toString("base64url");
  if (file !== undefined) {
    writeTokenFile(file, token);
    terminal.say(`  Admin token: made, in ${file}`);
  } else if (!terminal.isInteractive) {
    throw new DeployError(
      "The service needs an admin token, and without a terminal a new one would end up in a log. Give one in the variable ADMIN_TOKEN, or name a file for a new one: --token-file FILE",
    );
  }
  return token;
}

function writeTokenFile(file: string, token: string): void {
  try {
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new DeployError(`The admin token cannot be written to ${file}: ${String(error)}`);
  }
}
