import { describe, expect, it } from "vitest";
import { clientKey } from "../../../../src/admin/auth/gate.ts";

describe("clientKey", () => {
  it("is an IPv4 address itself", () => {
    expect(clientKey("192.0.2.7")).toBe("192.0.2.7");
    expect(clientKey("::ffff:192.0.2.7")).toBe("::ffff:192.0.2.7");
    expect(clientKey("")).toBe("");
  });

  it.each([
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0DB8:0001:0002:ffff::", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:db8::a:b:c:d:e", "2001:db8:0:a"],
    ["::1", "0:0:0:0"],
    ["::", "0:0:0:0"],
  ])("is the network of %s: %s", (address, key) => {
    expect(clientKey(address)).toBe(key);
  });
});
