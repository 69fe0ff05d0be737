const PLACE_KINDS = ["airport", "city", "country", "region"] as const;

/** A selection in a link. */
export interface Selection {
  readonly kind: (typeof PLACE_KINDS)[number];
  /** IATA code, name with number, alpha-2 code or slug. */
  readonly key: string;
}

export const PROTOCOLS = ["connect", "connect-get", "grpc-web"] as const;
export const ENCODINGS = ["proto", "json"] as const;

/** Settings of the call. */
export interface CallSettings {
  readonly protocol: (typeof PROTOCOLS)[number];
  readonly encoding: (typeof ENCODINGS)[number];
  /** The locale; empty in a link for the language of the browser. */
  readonly locale: string;
}

/** A position on the globe in degrees (WGS 84). */
export interface Position {
  readonly lat: number;
  readonly lon: number;
}

/** What the map shows: its middle, and a magnification of which each step doubles the last. */
export interface MapView extends Position {
  /** 0 where the whole world is 256 pixels wide. */
  readonly zoom: number;
}

/** Content of a link to the explorer. */
export interface Permalink {
  readonly call: CallSettings;
  readonly selection: Selection | null;
  /** Where somebody asks for the nearest airports. */
  readonly near: Position | null;
  /** Whether the changes of the last version are shown. */
  readonly changes: boolean;
  /** Null for the view that shows what is selected. */
  readonly view: MapView | null;
}

export const DEFAULT_CALL: CallSettings = {
  protocol: "connect-get",
  encoding: "proto",
  locale: "",
};

/** A link to the overview, and the rest of a link to a place. */
export const NOWHERE = { selection: null, near: null, changes: false, view: null } as const;

/** Parses a query string. Ignores unknown parameters and values. */
export function parsePermalink(query: string): Permalink {
  const params = new URLSearchParams(query);
  const kind = PLACE_KINDS.find((name) => params.get(name));
  return {
    call: {
      protocol: PROTOCOLS.find((name) => name === params.get("protocol")) ?? DEFAULT_CALL.protocol,
      encoding: ENCODINGS.find((name) => name === params.get("encoding")) ?? DEFAULT_CALL.encoding,
      locale: params.get("locale") ?? "",
    },
    selection: kind ? { kind, key: inUsualCase(kind, params.get(kind) ?? "") } : null,
    near: kind ? null : parsePosition(params.get("near")),
    changes: !kind && !params.has("near") && params.has("changes"),
    view: parseView(params.get("view")),
  };
}

function parsePosition(text: string | null): Position | null {
  const [lat = NaN, lon = NaN] = text?.split(",").map(Number) ?? [];
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? { lat, lon } : null;
}

function parseView(text: string | null): MapView | null {
  const position = parsePosition(text);
  const zoom = Number(text?.split(",")[2] ?? NaN);
  return position && Number.isFinite(zoom) ? { ...position, zoom } : null;
}

function inUsualCase(kind: Selection["kind"], key: string): string {
  if (kind === "city") return key.toLowerCase();
  return kind === "region" ? key : key.toUpperCase();
}

/** Builds the query string for `parsePermalink`; empty if everything has its default. */
export function formatPermalink({ call, selection, near, changes, view }: Permalink): string {
  const params = new URLSearchParams();
  if (selection !== null) params.set(selection.kind, selection.key);
  else if (near !== null) params.set("near", `${near.lat},${near.lon}`);
  else if (changes) params.set("changes", "1");
  if (view !== null) params.set("view", `${view.lat},${view.lon},${view.zoom}`);
  if (call.locale !== "") params.set("locale", call.locale);
  if (call.protocol !== DEFAULT_CALL.protocol) params.set("protocol", call.protocol);
  if (call.encoding !== DEFAULT_CALL.encoding) params.set("encoding", call.encoding);
  const query = params.toString().replaceAll("%2C", ",");
  return query === "" ? "" : `?${query}`;
}
