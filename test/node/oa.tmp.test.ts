import { it } from "vitest";
it("x", async () => { await import("/tmp/oa.ts"); });
