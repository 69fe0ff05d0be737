import { CatalogError, type CatalogFailure } from "../../client/src/api.ts";
import { readAnswer } from "../../client/src/read-answer.ts";
import type { CatalogCopy } from "../../client/src/refresh.ts";
import { getUrl } from "./call-snippets.ts";
import { type CallSettings, DEFAULT_CALL } from "./permalink.ts";
import { type Exchange, type Send, sendRequest, type SendOptions } from "./wire.ts";

/** Why a call failed. */
export interface CallFailure extends CatalogFailure {
  /** False if no answer came. */
  readonly answered: boolean;
}

/** The result of a call. */
interface CallResult {
  /** Undefined if no answer came. */
  readonly exchange: Exchange | undefined;
  readonly copy?: CatalogCopy;
  readonly failure?: CallFailure;
}

/** Calls the service as the settings say. Never rejects. */
export async function callService(
  settings: CallSettings,
  options: SendOptions,
): Promise<CallResult> {
  let exchange: Exchange | undefined;
  const send: Send = async (request) => {
    const sent = await sendRequest(request, options);
    ({ exchange } = sent);
    return sent.answer;
  };
  const { protocol, encoding } = DEFAULT_CALL;
  const isDefault = settings.protocol === protocol && settings.encoding === encoding;
  try {
    const copy = await (isDefault ? callByGet(settings, send) : callByConnect(settings, send));
    return { exchange, copy };
  } catch (cause) {
    const answered = exchange !== undefined;
    return { exchange, failure: { ...toFailure(cause), answered } };
  }
}

/** The call whose answer is the message itself. */
async function callByGet({ locale }: CallSettings, send: Send): Promise<CatalogCopy> {
  const { origin } = window.location;
  const url = getUrl(locale, origin);
  const { body, ...head } = await send({ url, method: "GET", headers: [], body: null });
  // Only a refusal is read from it: to copy megabytes into a response takes long.
  const answer = new Response(head.status === 200 ? null : body, head);
  return { ...(await readAnswer(answer, origin)), bytes: new Uint8Array(body) };
}

/** The other protocols and encodings, whose client few visitors need. */
async function callByConnect(settings: CallSettings, send: Send): Promise<CatalogCopy> {
  const { callInProtocol } = await import("./connect-call.ts");
  return callInProtocol(settings, send);
}

export function toFailure(cause: unknown): CatalogFailure {
  const message = cause instanceof Error ? cause.message : String(cause);
  if (!(cause instanceof CatalogError))
    return { code: "unavailable", message, retryAfterSeconds: null };
  const { code, retryAfterSeconds } = cause;
  return { code, message, retryAfterSeconds };
}
