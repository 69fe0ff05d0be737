DROP TABLE `alert_findings`;--> statement-breakpoint
ALTER TABLE `ingest_runs` DROP COLUMN `mode`;--> statement-breakpoint
ALTER TABLE `ingest_runs` DROP COLUMN `source`;--> statement-breakpoint
ALTER TABLE `ingest_runs` DROP COLUMN `requested_by`;