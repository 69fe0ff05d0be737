import { unstable_readConfig } from "wrangler";
import { rateLimits } from "../../bench/bundle.ts";

/** The host's settings from wrangler.toml. */
export interface HostConfig {
  readonly compatibilityDate: string;
  readonly compatibilityFlags: string[];
  readonly rateLimits: ReturnType<typeof rateLimits>;
  readonly durableObjects: {
    readonly [binding: string]: { readonly className: string; readonly useSQLite: true };
  };
}

/** Reads wrangler.toml. */
export function readHostConfig(): HostConfig {
  const config = unstable_readConfig({ config: "wrangler.toml" });
  const objects: readonly { readonly name: string; readonly class_name: string }[] =
    config.durable_objects.bindings;
  return {
    compatibilityDate: config.compatibility_date ?? "",
    compatibilityFlags: config.compatibility_flags,
    rateLimits: rateLimits(config),
    durableObjects: Object.fromEntries(
      objects.map(({ name, class_name }) => [name, { className: class_name, useSQLite: true }]),
    ),
  };
}
