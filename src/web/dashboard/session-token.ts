const KEY = "locations.admin-token";

/** Whether a text can be sent as a bearer token: visible ASCII, at least one character (RFC 6750). */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** The operator's token, kept until the tab is closed; null where none was given. */
export function sessionToken(): string | null {
  return sessionStorage.getItem(KEY);
}

/** Keeps a token, which isToken accepts, for this tab, or forgets it. */
export function keepSessionToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
}
