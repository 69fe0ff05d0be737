import { existsSync, readFileSync } from "node:fs";
import { StartError } from "./start-error.ts";

/** Where an installation is, and what lets one in. */
export interface Installation {
  readonly url: string;
  readonly token: string;
}

/** Options that every command for an installation takes. */
export const INSTALLATION_OPTIONS = {
  url: { type: "string", default: "http://127.0.0.1:8787" },
  token: { type: "string" },
  help: { type: "boolean", default: false },
} as const;

export const INSTALLATION_HELP = `  --url URL         where the service is (default http://127.0.0.1:8787, as npm start has it)
  --token TOKEN     admin token; else the variable ADMIN_TOKEN, else that of npm start
  --help            this text
`;

const LOCAL_TOKEN_FILE = ".wrangler/local-admin-token";
const CALL_DEADLINE_MS = 120_000;
/** Times that a call is made before its fault is taken to stay. */
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;

/** Finds the installation that the options mean. Throws StartError if they mean none. */
export function findInstallation(options: { url: string; token?: string }): Installation {
  const url = URL.canParse(options.url) ? new URL(options.url) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new StartError(`--url must be a URL such as https://example.com, not "${options.url}"`);
  const isLocal = ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  if (url.protocol === "http:" && !isLocal)
    throw new StartError("--url must begin with https: a token would be sent in the clear");
  const local =
    isLocal && existsSync(LOCAL_TOKEN_FILE) ? readFileSync(LOCAL_TOKEN_FILE, "utf8").trim() : "";
  const token = options.token ?? process.env["ADMIN_TOKEN"] ?? local;
  if (token === "") throw new StartError("Give an admin token: --token TOKEN, or ADMIN_TOKEN");
  return { url: url.origin, token };
}

/** What a call sends, made anew for each attempt. */
export type MakeRequest = () => {
  readonly method?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Blob;
};

/**
 * Calls an admin route; what may pass (no answer, 429, 5xx) is tried again.
 *
 * @returns the answer, of any status below 500 but 429.
 * @throws StartError that names the call and what came of it.
 */
export async function callAdmin(
  { url, token }: Installation,
  path: string,
  request: MakeRequest = () => ({}),
): Promise<Response> {
  let fault = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (attempt > 0)
      await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** attempt));
    const init = request();
    try {
      const answer = await fetch(`${url}${path}`, {
        ...init,
        headers: { ...init.headers, authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(CALL_DEADLINE_MS),
      });
      if (answer.status < 500 && answer.status !== 429) return answer;
      fault = await describeAnswer(answer);
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const reason = cause instanceof Error ? cause.message : String(cause);
      fault = `no answer (${reason}). Does the service run there? --url names another.`;
    }
  }
  throw new StartError(`${path} at ${url}: ${fault}`);
}

/** What an answer that is no success says, for people. */
export async function describeAnswer(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    const { code, detail }: { code?: string; detail?: string } = JSON.parse(text);
    return `${answer.status} ${code}: ${detail}`;
  } catch {
    return `${answer.status} ${text.slice(0, 200)}`;
  }
}
