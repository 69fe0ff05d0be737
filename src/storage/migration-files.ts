import initial from "../../migrations/0000_initial.sql";
import dropUnread from "../../migrations/0001_drop_unread.sql";
import type { Migration } from "./migrations.ts";

export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_initial.sql", sql: initial },
  { name: "0001_drop_unread.sql", sql: dropUnread },
];
