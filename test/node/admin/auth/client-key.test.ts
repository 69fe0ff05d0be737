import { describe, expect, it } from "vitest";
import { clientKey } from "../../../../src/admin/auth/authenticate.ts";

describe("clientKey", () => {
  it("returns an IPv4 address unchanged", () => {
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
  ])("returns the network of %s, which is %s", (address, key) => {
    expect(clientKey(address)).toBe(key);
  });
});
