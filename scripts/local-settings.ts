/**
 * The settings of a service on this machine, where those of wrangler.toml are of production: no
 * network, a quick first ingest, and no alert while the snapshot grows old.
 */
export const LOCAL_SETTINGS = {
  SOURCE: "embedded",
  COMPRESSION: "fast",
  ALERT_DATA_OLD_MS: "63072000000",
} as const;
