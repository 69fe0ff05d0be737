/**
 * The settings of a service on this machine, which replace those of production in wrangler.toml: no
 * network, a quick first ingest, and no alert about the snapshot's age.
 */
export const LOCAL_SETTINGS = {
  SOURCE: "embedded",
  COMPRESSION: "fast",
  ALERT_DATA_OLD_MS: "63072000000",
} as const;
