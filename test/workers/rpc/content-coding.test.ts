import { describe, expect, it } from "vitest";
import { RecordingReader } from "../../builders/recording-reader.ts";
import { aGet, aHandler } from "./requests.ts";

describe("an answer", () => {
  it("falls back to another coding if the best one is not published", async () => {
    const { handler } = aHandler({ reader: new RecordingReader({ codings: ["gzip"] }) });
    const coding = async (accepted: string): Promise<string | null> => {
      const response = await handler(aGet({ headers: { "accept-encoding": accepted } }));
      expect(response.status).toBe(200);
      return response.headers.get("content-encoding");
    };
    expect(await coding("br, gzip")).toBe("gzip");
    expect(await coding("br")).toBeNull();
  });
});
