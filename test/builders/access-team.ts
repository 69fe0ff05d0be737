/** A team of Cloudflare Access, which signs JWTs with its keys. */
import { exportJWK, generateKeyPair, type JSONWebKeySet, SignJWT } from "jose";

export const TEAM = "https://team.cloudflareaccess.com";
export const AUDIENCE = "a1b2c3";

type Signer = Awaited<ReturnType<typeof generateKeyPair>>;

export interface JwtChanges {
  /** Replaces or removes claims. */
  readonly claims?: { readonly [name: string]: unknown };
  readonly header?: { readonly [name: string]: unknown };
  /** Signs with the key of this id; the newest if absent. */
  readonly kid?: string;
}

export class AccessTeam {
  /** Keys by their ids, in the order in which they were made. */
  readonly #keys = new Map<string, Signer>();

  /** A team with one key, `k1`. */
  static async create(): Promise<AccessTeam> {
    const team = new AccessTeam();
    await team.addKey("k1");
    return team;
  }

  async addKey(kid: string): Promise<void> {
    this.#keys.set(kid, await generateKeyPair("RS256", { extractable: true }));
  }

  removeKey(kid: string): void {
    this.#keys.delete(kid);
  }

  /** The team's answer at /cdn-cgi/access/certs. */
  async keySet(): Promise<JSONWebKeySet> {
    const keys = [...this.#keys].map(async ([kid, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid,
      alg: "RS256",
      use: "sig",
    }));
    return { keys: await Promise.all(keys) };
  }

  /** The JWT of a user who is signed in at `nowMs`, valid for an hour. */
  async sign(nowMs: number, { claims = {}, header = {}, kid }: JwtChanges = {}): Promise<string> {
    const id = kid ?? [...this.#keys.keys()].at(-1) ?? "";
    const key = this.#keys.get(id);
    if (key === undefined) throw new Error(`there is no key ${id}`);
    const now = Math.floor(nowMs / 1000);
    const payload = {
      iss: TEAM,
      aud: [AUDIENCE],
      email: "ann@example.org",
      sub: "user-1",
      iat: now,
      nbf: now,
      exp: now + 3600,
      ...claims,
    };
    return new SignJWT(payload)
      .setProtectedHeader({ alg: "RS256", kid: id, ...header })
      .sign(key.privateKey);
  }
}
