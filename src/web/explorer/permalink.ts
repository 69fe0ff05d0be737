const KINDS = ["airport", "city", "country", "region"] as const;

/** A selection in a link. */
export interface Selection {
  readonly kind: (typeof KINDS)[number];
  /** IATA code, id, alpha-2 code or slug. */
  readonly key: string;
}

export const PROTOCOLS = ["connect", "connect-get", "grpc-web"] as const;
export const ENCODINGS = ["proto", "json"] as const;

/** Settings of the call. */
export interface CallSettings {
  readonly protocol: (typeof PROTOCOLS)[number];
  readonly encoding: (typeof ENCODINGS)[number];
  /** In a link empty for the language of the browser. */
  readonly locale: string;
}

/** Content of a link to the explorer. */
export interface Permalink {
  readonly call: CallSettings;
  readonly selection: Selection | null;
}

export const DEFAULT_CALL: CallSettings = {
  protocol: "connect-get",
  encoding: "proto",
  locale: "",
};

/** Parses a query string. Ignores unknown parameters and values. */
export function parsePermalink(query: string): Permalink {
  const params = new URLSearchParams(query);
  const kind = KINDS.find((name) => params.get(name));
  return {
    call: {
      protocol: PROTOCOLS.find((name) => name === params.get("protocol")) ?? DEFAULT_CALL.protocol,
      encoding: ENCODINGS.find((name) => name === params.get("encoding")) ?? DEFAULT_CALL.encoding,
      locale: params.get("locale") ?? "",
    },
    selection: kind ? { kind, key: inUsualCase(kind, params.get(kind) ?? "") } : null,
  };
}

function inUsualCase(kind: Selection["kind"], key: string): string {
  if (kind === "city") return key.toLowerCase();
  return kind === "region" ? key : key.toUpperCase();
}

/** Builds the query string for `parsePermalink`; empty if everything has its default. */
export function formatPermalink({ call, selection }: Permalink): string {
  const params = new URLSearchParams();
  if (selection !== null) params.set(selection.kind, selection.key);
  if (call.locale !== "") params.set("locale", call.locale);
  if (call.protocol !== DEFAULT_CALL.protocol) params.set("protocol", call.protocol);
  if (call.encoding !== DEFAULT_CALL.encoding) params.set("encoding", call.encoding);
  const query = params.toString();
  return query === "" ? "" : `?${query}`;
}
