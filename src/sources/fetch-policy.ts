/** Why a request may not go to a URL, or null if it may. */
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

/** Reads the URL of an upstream file; `problem` goes on from its name. */
export function parseSourceUrl(
  text: string,
): { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly problem: string } {
  if (!URL.canParse(text)) return { ok: false, problem: "is not a URL" };
  const url = new URL(text);
  const problem = findUrlProblem(url);
  return problem === null ? { ok: true, url } : { ok: false, problem };
}

/** How messages and logs name a URL: without credentials, query and fragment, and not at length. */
export function describeUrl({ protocol, host, pathname }: URL): string {
  return host === "" ? protocol : `${host}${pathname}`.slice(0, MAX_DESCRIBED);
}

const MAX_DESCRIBED = 200;

function findUrlProblem({ protocol, username, password }: URL): string | null {
  if (protocol !== "https:" && protocol !== "http:") return "is neither http nor https";
  if (username !== "" || password !== "") return "has a user name or password";
  return null;
}
