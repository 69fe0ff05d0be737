declare global {
  interface Window {
    /** Trusted Types, where the browser has them. */
    readonly trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createScriptURL: (url: string) => string },
      ): { createScriptURL(url: string): string };
    };
  }
}

/** The only policy that the page's Content-Security-Policy allows. */
const policy = window.trustedTypes?.createPolicy("worker", { createScriptURL: ownUrl });

/** Marks the URL of a worker as trusted: one that the build has made, of this service. */
export function trustedUrl(url: string): string {
  return policy?.createScriptURL(url) ?? url;
}

function ownUrl(url: string): string {
  if (/^\/[\w.-][\w./-]*\.js$/.test(url)) return url;
  throw new TypeError(`not a script of this service: ${url}`);
}
