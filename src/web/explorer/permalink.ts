/** A selection in a link. */
export type Selection =
  | { readonly kind: "airport"; readonly iata: string }
  | { readonly kind: "city"; readonly id: string }
  | { readonly kind: "country"; readonly code: string }
  | { readonly kind: "region"; readonly slug: string };

export const PROTOCOLS = ["connect", "connect-get", "grpc-web"] as const;
type Protocol = (typeof PROTOCOLS)[number];

export const ENCODINGS = ["proto", "json"] as const;
type Encoding = (typeof ENCODINGS)[number];

/** Settings of the call. */
export interface CallSettings {
  readonly protocol: Protocol;
  readonly encoding: Encoding;
  /** Empty for the service's default. */
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
  return {
    call: {
      protocol: PROTOCOLS.find((name) => name === params.get("protocol")) ?? DEFAULT_CALL.protocol,
      encoding: ENCODINGS.find((name) => name === params.get("encoding")) ?? DEFAULT_CALL.encoding,
      locale: params.get("locale") ?? "",
    },
    selection: parseSelection(params),
  };
}

function parseSelection(params: URLSearchParams): Selection | null {
  const iata = params.get("airport");
  if (iata) return { kind: "airport", iata: iata.toUpperCase() };
  const id = params.get("city");
  if (id) return { kind: "city", id: id.toLowerCase() };
  const code = params.get("country");
  if (code) return { kind: "country", code: code.toUpperCase() };
  const slug = params.get("region");
  if (slug) return { kind: "region", slug };
  return null;
}

/** Builds the query string for `parsePermalink`; empty if everything has its default. */
export function formatPermalink({ call, selection }: Permalink): string {
  const params = new URLSearchParams();
  if (selection !== null) params.set(selection.kind, selectionKey(selection));
  if (call.locale !== "") params.set("locale", call.locale);
  if (call.protocol !== DEFAULT_CALL.protocol) params.set("protocol", call.protocol);
  if (call.encoding !== DEFAULT_CALL.encoding) params.set("encoding", call.encoding);
  const query = params.toString();
  return query === "" ? "" : `?${query}`;
}

function selectionKey(selection: Selection): string {
  switch (selection.kind) {
    case "airport":
      return selection.iata;
    case "city":
      return selection.id;
    case "country":
      return selection.code;
    case "region":
      return selection.slug;
    default:
      return selection satisfies never;
  }
}
