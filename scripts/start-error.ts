/** A step of the start that failed; the message says which, why and what to do. */
export class StartError extends Error {
  override readonly name = "StartError";
}
