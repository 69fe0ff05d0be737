type Answer = (request: Request) => Response | Promise<Response>;

/**
 * Lets a change finish, and reach the audit, even if its client disconnects. `waitUntil` keeps the
 * present request's context alive until a promise settles.
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
