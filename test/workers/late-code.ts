/**
 * Loads the code that the Worker loads when it first needs it. In a bundle that takes no I/O; here it
 * does, on behalf of whoever is first, which may be a Durable Object that a test resets.
 */
export const lateCode = await Promise.all([
  import("../../src/monitor/durable-object.ts"),
  import("../../src/coordinator/durable-object.ts"),
  import("../../src/parts/codings.ts"),
  import("../../src/worker/operations.ts"),
  import("../../src/rpc/unusual-call.ts"),
]);
