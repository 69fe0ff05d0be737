import initial from "../../migrations/0000_initial.sql";
import dropAlertFindings from "../../migrations/0001_drop_alert_findings.sql";
import type { Migration } from "./migrations.ts";

/** All files of migrations/, oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_initial.sql", sql: initial },
  { name: "0001_drop_alert_findings.sql", sql: dropAlertFindings },
];
