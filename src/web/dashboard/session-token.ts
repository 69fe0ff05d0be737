const KEY = "locations.admin-token";

/** The operator's token, kept until the tab is closed; null where none was given. */
export function sessionToken(): string | null {
  return sessionStorage.getItem(KEY);
}

/** Keeps a token for this tab, or forgets it. */
export function keepSessionToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
}
