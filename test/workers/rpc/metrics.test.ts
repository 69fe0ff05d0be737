import { describe, expect, it } from "vitest";
import { answerMetrics } from "../../../src/rpc/metrics.ts";
import { aGet, aHandler, aPost } from "./requests.ts";

describe("the data set of metrics", () => {
  function aMeasuredHandler() {
    const points: AnalyticsEngineDataPoint[] = [];
    const measure = answerMetrics({ writeDataPoint: (point) => points.push(point ?? {}) });
    return { ...aHandler({ measure }), points };
  }

  it("gets one data point for each answer of whatever kind", async () => {
    const { handler, reader, points } = aMeasuredHandler();
    const bytes = reader.bytes("de", "json", "gzip").length;
    const gzip = { "accept-encoding": "gzip" };
    await handler(aPost("application/json", { locale: "de", headers: gzip }));
    reader.store.kv.clear();
    await handler(aPost("application/json", { locale: "de", headers: gzip }));
    await reader.hold();
    await handler(aPost("application/json", { locale: "de", headers: gzip }));
    await handler(aGet({ headers: { "if-none-match": "*" } }));
    await handler(aGet({ headers: { "if-match": '"x"' } }));
    await handler(aGet({ method: "HEAD" }));
    await handler(aGet({ locale: "--" }));
    await handler(aPost("application/proto", { headers: { "content-encoding": "identity" } }));
    reader.currentResult = { ok: false, reason: "unavailable" };
    await handler(aGet());
    await handler(new Request("http://localhost/a.B/C", { method: "POST" }));
    await handler(aGet({ method: "OPTIONS" }));
    reader.currentResult = undefined;
    reader.openThrows = new Error("a bug");
    await handler(aGet());
    const { generation } = reader.manifest;
    const whole = reader.bytes("en", "proto", "identity").length;
    expect(points.map(({ indexes, blobs, doubles }) => [indexes, blobs, doubles])).toEqual([
      [["de"], ["body", "kv", "json", "gzip"], [bytes, generation]],
      [["de"], ["body", "r2", "json", "gzip"], [bytes, generation]],
      [["de"], ["body", "memory", "json", "gzip"], [bytes, generation]],
      [["en"], ["not_modified", "", "proto", "identity"], [0, generation]],
      [["en"], ["precondition_failed", "", "proto", "identity"], [0, generation]],
      [["en"], ["head", "", "proto", "identity"], [0, generation]],
      [[""], ["invalid_argument", "", "", ""], [0, 0]],
      [["en"], ["body", "memory", "proto", "identity"], [whole, generation]],
      [[""], ["unavailable", "", "", ""], [0, 0]],
      [[""], ["refused", "", "", ""], [0, 0]],
      [[""], ["options", "", "", ""], [0, 0]],
      [[""], ["internal", "", "", ""], [0, 0]],
    ]);
  });
});
