/** Gives each file of tests a Worker that holds nothing, in its stores and in its modules. */
import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";

vi.resetModules();
await reset();
await applyD1Migrations(env.HISTORY, env.MIGRATIONS);
