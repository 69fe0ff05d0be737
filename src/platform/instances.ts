/** Names of the instances of the Durable Objects; there is one of each. */

export const INGEST_INSTANCE = "ingest";
export const ALERTS_INSTANCE = "alerts";
