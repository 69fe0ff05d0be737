const KEY = "locations.admin-token";

/** Whether a text is a valid bearer token: visible ASCII, at least one character (RFC 6750). */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** Returns the operator's token of this tab, or null. */
export function sessionToken(): string | null {
  return sessionStorage.getItem(KEY);
}

/** Stores a token that `isToken` accepts for this tab, or deletes it. */
export function keepSessionToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
}
