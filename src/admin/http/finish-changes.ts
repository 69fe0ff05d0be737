type Answer = (request: Request) => Response | Promise<Response>;

/**
 * Answers requests, and has a change go on to its end, and into the audit, when its client has gone
 * away. `waitUntil` keeps the present request's context alive until a promise settles.
 */
export function finishChanges(
  answer: Answer,
  waitUntil: (promise: Promise<unknown>) => void,
): Answer {
  return (request) => {
    const answered = answer(request);
    const isSafe = request.method === "GET" || request.method === "HEAD";
    if (!isSafe) waitUntil(Promise.resolve(answered));
    return answered;
  };
}
