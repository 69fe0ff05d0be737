import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { MIGRATIONS } from "../../../src/storage/migration-files.ts";
import { applyMigrations, checkTables } from "../../../src/storage/migrations.ts";

const d1 = env.HISTORY;
const LATER = { name: "0001_later.sql", sql: "ALTER TABLE audit ADD COLUMN mood TEXT" };

const names = async (query: string) =>
  (await d1.prepare(query).all<{ name: string }>()).results.map(({ name }) => name);
const tables = () => names("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
const applied = () => names("SELECT name FROM d1_migrations ORDER BY id");
const columns = () => names("SELECT name FROM pragma_table_info('audit')");

beforeEach(async () => {
  for (const table of await tables())
    if (!table.startsWith("_cf_") && !table.startsWith("sqlite_"))
      await d1.prepare(`DROP TABLE ${table}`).run();
});

describe("the migrations of D1", () => {
  it("are in the Worker as in their files", () => {
    const files = env.MIGRATIONS.map(({ name, queries }) => ({ name, count: queries.length }));
    const bundled = MIGRATIONS.map(({ name, sql }) => ({
      name,
      count: sql.split("--> statement-breakpoint").length,
    }));
    expect(bundled).toEqual(files);
  });

  it("give an empty database its tables, and a later one only what it lacks", async () => {
    await applyMigrations(d1, MIGRATIONS);
    expect(await tables()).toEqual(expect.arrayContaining(["alert_runs", "audit", "ingest_runs"]));
    await applyMigrations(d1, [...MIGRATIONS, LATER]);
    expect(await columns()).toContain("mood");
    await applyMigrations(d1, [...MIGRATIONS, LATER]);
    expect(await applied()).toEqual([...MIGRATIONS, LATER].map(({ name }) => name));
  });

  it("count as applied for wrangler once the Worker has applied them, and the other way round", async () => {
    await applyMigrations(d1, MIGRATIONS);
    await applyD1Migrations(d1, env.MIGRATIONS);
    expect(await applied()).toEqual(MIGRATIONS.map(({ name }) => name));
    await d1.prepare("DROP TABLE d1_migrations").run();
    for (const table of ["alert_runs", "audit", "ingest_runs"])
      await d1.prepare(`DROP TABLE ${table}`).run();
    await applyD1Migrations(d1, env.MIGRATIONS);
    await applyMigrations(d1, MIGRATIONS);
    expect(await applied()).toEqual(MIGRATIONS.map(({ name }) => name));
  });

  it.each(["alert_runs", "audit", "ingest_runs"])(
    "make a lost %s again, with its indexes and later changes, and say so once",
    async (table) => {
      const migrations = [...MIGRATIONS, LATER];
      const schema = () =>
        d1
          .prepare(
            "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name",
          )
          .all();
      await applyMigrations(d1, migrations);
      const { results } = await schema();
      await d1.prepare("INSERT INTO alert_runs (id, run) VALUES ('1', '{}')").run();
      await d1.prepare(`DROP TABLE ${table}`).run();
      await expect(checkTables(d1, migrations)).rejects.toThrow(`D1 lacks ${table};`);
      expect(await applyMigrations(d1, migrations)).toEqual({ lost: [table], wasEmpty: false });
      expect((await schema()).results).toEqual(results);
      await checkTables(d1, migrations);
      expect(await applyMigrations(d1, migrations)).toEqual({ lost: [], wasEmpty: false });
      const { results: rows } = await d1.prepare("SELECT * FROM alert_runs").all();
      expect(rows).toHaveLength(table === "alert_runs" ? 0 : 1);
    },
  );

  it("leave no table behind that they have dropped or renamed, which would count as lost", async () => {
    await applyMigrations(d1, MIGRATIONS);
    await expect(checkTables(d1, MIGRATIONS)).resolves.toBeUndefined();
  });

  it("change nothing if one of their statements fails", async () => {
    await applyMigrations(d1, MIGRATIONS);
    const broken = { ...LATER, sql: `${LATER.sql}--> statement-breakpoint\nDROP TABLE absent` };
    await expect(applyMigrations(d1, [...MIGRATIONS, broken])).rejects.toThrow("no such table");
    expect(await columns()).not.toContain("mood");
    expect(await applied()).toEqual(MIGRATIONS.map(({ name }) => name));
  });

  it("run once if two Workers apply them at the same moment", async () => {
    await Promise.allSettled([applyMigrations(d1, MIGRATIONS), applyMigrations(d1, MIGRATIONS)]);
    await applyMigrations(d1, MIGRATIONS);
    expect(await applied()).toEqual(MIGRATIONS.map(({ name }) => name));
  });
});
