/** Returns why a request to a URL is forbidden, or null if it is allowed. */
export type FetchPolicy = (target: URL) => string | null;

/**
 * Lets requests go to the hosts of the configured URLs and to a list of allowed hosts (with a port
 * unless it is the scheme's own).
 */
export function createFetchPolicy(
  configured: readonly URL[],
  allowedHosts: readonly string[],
): FetchPolicy {
  const hosts = [...configured.map(({ host }) => host), ...allowedHosts];
  const allowed = new Set(hosts.map((host) => host.toLowerCase()));
  return (target) =>
    findUrlProblem(target) ?? (allowed.has(target.host) ? null : "is not on an allowed host");
}

/** Parses the URL of an upstream file. `problem` continues a sentence that begins with the URL. */
export function parseSourceUrl(
  text: string,
): { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly problem: string } {
  if (!URL.canParse(text)) return { ok: false, problem: "is not a URL" };
  const url = new URL(text);
  const problem = findUrlProblem(url);
  return problem === null ? { ok: true, url } : { ok: false, problem };
}

/** Shortens a URL for messages and logs, without credentials, query and fragment. */
export function describeUrl({ protocol, host, pathname }: URL): string {
  return host === "" ? protocol : `${host}${pathname}`.slice(0, MAX_DESCRIBED);
}

const MAX_DESCRIBED = 200;

function findUrlProblem({ protocol, username, password }: URL): string | null {
  if (protocol !== "https:" && protocol !== "http:") return "is neither http nor https";
  if (username !== "" || password !== "") return "has a user name or password";
  return null;
}
