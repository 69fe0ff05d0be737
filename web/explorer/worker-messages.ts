import type { Place } from "../../client/src/catalog.ts";
import type { CallFailure } from "./failure-notice.tsx";
import type { CallSettings } from "./permalink.ts";
import type { PlaceMessage } from "./place-messages.ts";
import type { Found } from "../../client/src/search/search.ts";

/** A request that the worker's client asks the page to send, because the page can show its progress. */
export interface WireRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: [string, string][];
  readonly body: BodyInit | null;
}

/** Its answer. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: [string, string][];
  readonly body: ArrayBuffer;
}

export type ToWorker =
  | { readonly kind: "call"; readonly call: number; readonly settings: CallSettings }
  /** All lists but the regions, of an answer that is slow to come. */
  | { readonly kind: "began"; readonly call: number; readonly beginning: WireAnswer }
  | { readonly kind: "answered"; readonly call: number; readonly answer: WireAnswer | null }
  /** Reads the names of places in other languages. */
  | { readonly kind: "prepare" }
  | { readonly kind: "search"; readonly typed: string }
  /** Asks for the messages of a place. */
  | { readonly kind: "show"; readonly place: Pick<Place, "kind" | "id"> };

export type FromWorker =
  | { readonly kind: "send"; readonly call: number; readonly request: WireRequest }
  | {
      readonly kind: "loaded";
      readonly call: number;
      /** Of `packCatalog`. */
      readonly catalog: string;
      /** Whether the regions are in it. */
      readonly isWhole: boolean;
      readonly locale: string;
      /** The generation of the catalog. */
      readonly version: number;
    }
  | { readonly kind: "failed"; readonly call: number; readonly failure: CallFailure }
  | { readonly kind: "shown"; readonly id: string; readonly messages: readonly PlaceMessage[] }
  /** Null while nothing is loaded. */
  | {
      readonly kind: "found";
      readonly typed: string;
      readonly found: readonly Found[] | null;
    };
