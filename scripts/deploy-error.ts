/** A step of the deployment that failed; the message says which, why and what to do. */
export class DeployError extends Error {
  override readonly name = "DeployError";
}
