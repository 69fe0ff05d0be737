import { describe, expect, it } from "vitest";
import { DEPLOY_HELP, readCommandLine } from "../../../scripts/deploy-options.ts";
import { completeConfig, readTarget } from "../../../scripts/deploy-target.ts";

describe("the command line of a deployment", () => {
  it("names nothing by default", () => {
    expect(readCommandLine([])).toEqual({
      help: false,
      dryRun: false,
      environment: undefined,
      address: { kind: "configured" },
      consent: { replaceDomain: false, replaceWorker: false },
      tokenFile: undefined,
      newToken: false,
    });
  });

  it("takes an environment and an address", () => {
    expect(readCommandLine(["--env", "staging", "--domain", "loc.example.com"])).toMatchObject({
      environment: "staging",
      address: { kind: "domain", domain: "loc.example.com" },
    });
    expect(readCommandLine(["--domain=a.example.com", "--replace-domain"]).consent).toEqual({
      replaceDomain: true,
      replaceWorker: false,
    });
    expect(readCommandLine(["--replace-worker"]).consent.replaceWorker).toBe(true);
    expect(readCommandLine(["--workers-dev"]).address).toEqual({ kind: "workers.dev" });
  });

  it.each([
    [["--env", "prod"], '--env must be production or staging, not "prod"'],
    [["--workers-dev", "--domain", "loc.example.com"], "not both"],
    [["--domain", "https://loc.example.com/"], "--domain must be a host such as"],
    [["--domain", "localhost"], "--domain must be a host such as"],
    [["--domain=-a.example.com"], "--domain must be a host such as"],
    [["--envv", "staging"], "Unknown option '--envv'"],
    [["staging"], "Unexpected argument 'staging'"],
  ])("refuses %j and says what is right", (args, message) => {
    expect(() => readCommandLine(args)).toThrow(message);
  });

  it("is explained in full", () => {
    for (const option of [
      "--env",
      "--workers-dev",
      "--domain",
      "--replace-domain",
      "--replace-worker",
      "--token-file",
      "--new-token",
      "--dry-run",
      "--help",
    ])
      expect(DEPLOY_HELP).toContain(`  ${option}`);
  });
});

describe("the configuration that is deployed", () => {
  it("has the custom domain that was asked for, and no workers.dev beside it", () => {
    const target = readTarget("staging");
    const config = completeConfig(target, { kind: "domain", domain: "loc.example.com" });
    expect(config).toMatchObject({
      workers_dev: false,
      env: { staging: { routes: [{ pattern: "loc.example.com", custom_domain: true }] } },
    });
    expect(config.env?.["staging"]).not.toHaveProperty("workers_dev");
    expect(config.env?.["production"]).not.toHaveProperty("routes");
  });
});
