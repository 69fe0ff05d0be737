import { createHash } from "node:crypto";
import type { Consent } from "../../scripts/deploy-consent.ts";
import { type DeployOptions, type Deployed, deployService } from "../../scripts/deploy-service.ts";
import type { TokenOptions } from "../../scripts/deploy-token.ts";
import type { ToolEnd } from "../../scripts/run-tool.ts";
import { type FakeService, fakeService, type FakeServiceOptions } from "./fake-service.ts";
import { type FakeWrangler, fakeWrangler } from "./fake-wrangler.ts";

/** A Cloudflare account, the service that is deployed to it, and somebody at a terminal. */
export interface DeployWorld {
  readonly wrangler: FakeWrangler;
  readonly service: FakeService;
  /** Everything that was said on the terminal. */
  readonly said: readonly string[];
  /** Questions that were asked. */
  readonly asked: readonly string[];
  /** Hosts that were called after they were deployed to. */
  readonly hosts: readonly string[];
  readonly deploy: (run?: DeployRun) => Promise<Deployed>;
  readonly remove: () => Promise<void>;
}

export interface DeployRun extends Partial<Omit<DeployOptions, "token" | "consent">> {
  readonly consent?: Partial<Consent>;
  readonly token?: Partial<TokenOptions>;
  /** What is typed when the admin token is asked for; undefined without a terminal. */
  readonly typed?: string | undefined;
  /** What is answered to a question, on a terminal. */
  readonly confirms?: boolean;
  readonly check?: ToolEnd;
}

const PASSED: ToolEnd = { ok: true, stdout: "", lastLines: "" };
const PATIENCE = { pollMs: 2, answerMs: 500, silenceMs: 50, retryAfterMs: 10 };

export interface DeployWorldOptions extends Partial<FakeServiceOptions> {
  /** Run a process for each command, which this ends. */
  readonly processes?: AbortSignal;
}

export async function deployWorld(options: DeployWorldOptions = {}): Promise<DeployWorld> {
  const wrangler = fakeWrangler();
  const said: string[] = [];
  const asked: string[] = [];
  const hosts: string[] = [];
  const service = await fakeService({ knows: (token) => isSet(wrangler, token), ...options });
  const { processes } = options;

  function deploy(run: DeployRun = {}): Promise<Deployed> {
    const { token, consent, typed, confirms = false, check = PASSED, ...others } = run;
    return deployService(
      {
        environment: "production",
        address: { kind: "workers.dev" },
        account: undefined,
        ...others,
        consent: { replaceDomain: false, replaceWorker: false, ...consent },
        token: { given: undefined, file: undefined, replace: false, ...token },
      },
      {
        wrangler: processes === undefined ? wrangler.inProcess : wrangler.processes(processes),
        check: async () => check,
        terminal: {
          isInteractive: typed !== undefined,
          say: (line) => void said.push(line),
          askSecret: async () => typed ?? "",
          confirm: async (question) => {
            asked.push(question);
            return confirms;
          },
        },
        patience: PATIENCE,
        originOf: (host) => {
          hosts.push(host);
          return service.url;
        },
      },
    );
  }

  async function remove(): Promise<void> {
    await service.stop();
    wrangler.remove();
  }
  return { wrangler, service, said, asked, hosts, deploy, remove };
}

/** Whether the last secret that was set has the hash of a token. */
function isSet(wrangler: FakeWrangler, token: string): boolean {
  const secrets = wrangler.calls().flatMap(({ secrets: set }) => (set === null ? [] : [set]));
  const sha256 = createHash("sha256").update(token).digest("hex");
  return JSON.stringify(secrets.at(-1) ?? "").includes(sha256);
}
