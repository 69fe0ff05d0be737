import { describe, expect, it } from "vitest";
import { takeLatest } from "../src/api.ts";

describe("a search for one text field", () => {
  function withAnswers() {
    const answers = new Map<string, PromiseWithResolvers<string>>();
    const signals: AbortSignal[] = [];
    const type = takeLatest((typed, signal) => {
      signals.push(signal);
      const answer = Promise.withResolvers<string>();
      answers.set(typed, answer);
      return answer.promise;
    });
    return { type, signals, answer: (typed: string) => answers.get(typed) };
  }

  it("has the answer to the last text, in whatever order they come", async () => {
    const { type, answer } = withAnswers();
    const [first, second, third] = ["東京", "ro", "rom"].map(type);
    answer("rom")?.resolve("Rome");
    answer("ro")?.resolve("Rostock");
    expect(await third).toBe("Rome");
    expect(await Promise.all([first, second])).toEqual([null, null]);
  });

  it("is null at once for an earlier text, whose signal is aborted, and whose failure is nobody's", async () => {
    const { type, signals, answer } = withAnswers();
    const first = type("東京");
    expect(signals[0]?.aborted).toBe(false);
    const second = type("rom");
    expect(await first).toBeNull();
    answer("東京")?.reject(new Error("late"));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    answer("rom")?.resolve("Rome");
    expect(await second).toBe("Rome");
  });

  it("fails as the last one does", async () => {
    const { type, answer } = withAnswers();
    const typed = type("rom");
    answer("rom")?.reject(new Error("no service"));
    await expect(typed).rejects.toThrow("no service");
  });
});
