import { trustedUrl } from "../shared/trusted-url.ts";

declare global {
  interface Navigator {
    /** Network Information API, where the browser has it. */
    readonly connection?: { readonly saveData?: boolean };
  }
}

/**
 * Lets the explorer load without a network from now on, by `service-worker.ts`, unless this device
 * is to save data.
 */
export async function keepForOffline(): Promise<void> {
  if (!("serviceWorker" in navigator) || navigator.connection?.saveData === true) return;
  await navigator.serviceWorker.register(trustedUrl("/service-worker.js"), {
    updateViaCache: "none",
  });
}
