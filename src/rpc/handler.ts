import { withTimeout } from "../platform/deadline.ts";
import { acceptedCodings } from "./content-coding.ts";
import {
  CallError,
  type CatalogSource,
  lookUp,
  type LookUpResult,
  peek,
  type Query,
} from "./look-up.ts";
import type { Measure } from "./metrics.ts";
import { readConditions } from "./preconditions.ts";
import { type Call, readCall, type RequestHead, shortBodyBytes } from "./request.ts";
import type { UnreadRequest } from "./request-body.ts";
import { answerOptions, successResponse } from "./response.ts";

/** Logs a bug. Only the log shows its cause. */
type LogInternalError = (message: string, cause: unknown) => void;

export interface RpcOptions extends CatalogSource {
  readonly log: LogInternalError;
  readonly measure?: Measure | undefined;
}

/** Answers a request, synchronously where possible. Never throws or rejects. */
export type RpcHandler = (request: Request, head: RequestHead) => Response | Promise<Response>;

const NO_BYTES = new Uint8Array();

/** Serves LocationsService from stored bytes. The code of unusual calls and of errors loads on first use. */
export function createRpcHandler({
  log,
  measure = () => undefined,
  ...source
}: RpcOptions): RpcHandler {
  function serve(request: Request, head: RequestHead): Response | Promise<Response> {
    if (head.method === "OPTIONS") {
      measure({ outcome: "options" });
      return answerOptions(request, head);
    }
    if (head.method === "GET" || head.method === "HEAD")
      return answerUsual({ request, head }, NO_BYTES);
    const announcedBytes = shortBodyBytes(head);
    if (announcedBytes === undefined) return answerUnusual({ request, head });
    const unread = { request, head, taken: takeBody(request, head) };
    return unread.taken.then(
      (body) =>
        body.byteLength === announcedBytes ? answerUsual(unread, body) : answerUnusual(unread),
      () => answerUnusual(unread),
    );
  }

  function answerUsual(unread: UnreadRequest, body: Uint8Array): Response | Promise<Response> {
    const call = readCall(unread.head, body);
    return call === undefined ? answerUnusual(unread) : answer(call, unread.head);
  }

  async function answerUnusual(unread: UnreadRequest): Promise<Response> {
    const { readUnusualCall } = await import("./unusual-call.ts");
    return answer(await readUnusualCall(unread), unread.head);
  }

  /** Answers from memory without a promise, because each promise costs time. */
  function answer(call: Call, head: RequestHead): Response | Promise<Response> {
    const query = queryFor(head, call);
    const cached = peek(source, query);
    if (cached !== undefined) return send(cached, head);
    return inTime(head, lookUp(source, query)).then((result) => send(result, head));
  }

  function send(result: LookUpResult, head: RequestHead): Response | Promise<Response> {
    if (!result.ok) throw new CallError(result.reason);
    const { found } = result;
    measure({ outcome: found.kind, found });
    if (found.kind !== "precondition_failed") return successResponse(found, head);
    return import("./errors.ts").then(({ refusePrecondition }) => refusePrecondition(head));
  }

  async function fail(head: RequestHead, cause: unknown): Promise<Response> {
    const { answerFailure } = await import("./errors.ts");
    return answerFailure({ head, cause, log, measure });
  }

  return (request, head) => {
    try {
      const answering = serve(request, head);
      return answering instanceof Response
        ? answering
        : answering.catch((cause: unknown) => fail(head, cause));
    } catch (cause) {
      return fail(head, cause);
    }
  };
}

/** Reads a short body until the connection ends: a timer would cost more than the look-up. */
function takeBody(request: Request, head: RequestHead): Promise<Uint8Array> {
  return inTime(head, request.arrayBuffer()).then((buffer) => new Uint8Array(buffer));
}

/** Waits as long as the client does. Rejects with CallError. */
function inTime<T>({ deadlineAt }: RequestHead, work: Promise<T>): Promise<T> {
  return deadlineAt === undefined || Number.isNaN(deadlineAt)
    ? work
    : withTimeout(deadlineAt - Date.now(), work, () => new CallError("deadline_exceeded"));
}

function queryFor(head: RequestHead, { tag, representation, pin }: Call): Query {
  return {
    tag,
    representation,
    codings: acceptedCodings(head),
    pin,
    conditions: head.method === "POST" ? null : readConditions(head.headers),
    withBody: head.method !== "HEAD",
  };
}
