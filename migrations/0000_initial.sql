CREATE TABLE `alert_findings` (
	`run_id` text NOT NULL,
	`fingerprint` text NOT NULL,
	`rule` text NOT NULL,
	`state` text NOT NULL,
	PRIMARY KEY(`run_id`, `fingerprint`)
);
--> statement-breakpoint
CREATE INDEX `alert_findings_by_rule` ON `alert_findings` (`rule`,`state`,`run_id`);--> statement-breakpoint
CREATE INDEX `alert_findings_by_state` ON `alert_findings` (`state`,`run_id`);--> statement-breakpoint
CREATE TABLE `alert_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`run` text NOT NULL,
	`worst` text GENERATED ALWAYS AS (json_extract(run, '$.worst')) VIRTUAL,
	`changed` integer GENERATED ALWAYS AS (json_extract(run, '$.changed')) VIRTUAL,
	`started_at` text GENERATED ALWAYS AS (json_extract(run, '$.started_at')) VIRTUAL
);
--> statement-breakpoint
CREATE INDEX `alert_runs_by_worst` ON `alert_runs` (`worst`,`id`);--> statement-breakpoint
CREATE INDEX `alert_runs_by_changed` ON `alert_runs` (`changed`,`id`);--> statement-breakpoint
CREATE INDEX `alert_runs_by_time` ON `alert_runs` (`started_at`);--> statement-breakpoint
CREATE TABLE `audit` (
	`id` text PRIMARY KEY NOT NULL,
	`at` text NOT NULL,
	`actor` text NOT NULL,
	`action` text NOT NULL,
	`target` text,
	`outcome` text NOT NULL,
	`status` integer NOT NULL,
	`code` text,
	`detail` text,
	`request` text,
	`before` text,
	`after` text,
	`request_id` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_by_actor` ON `audit` (`actor`,`id`);--> statement-breakpoint
CREATE INDEX `audit_by_action` ON `audit` (`action`,`id`);--> statement-breakpoint
CREATE INDEX `audit_by_target` ON `audit` (`target`,`id`);--> statement-breakpoint
CREATE INDEX `audit_by_time` ON `audit` (`at`);--> statement-breakpoint
CREATE TABLE `ingest_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`run` text NOT NULL,
	`state` text GENERATED ALWAYS AS (json_extract(run, '$.state')) VIRTUAL,
	`outcome` text GENERATED ALWAYS AS (json_extract(run, '$.outcome')) VIRTUAL,
	`trigger` text GENERATED ALWAYS AS (json_extract(run, '$.trigger')) VIRTUAL,
	`mode` text GENERATED ALWAYS AS (json_extract(run, '$.mode')) VIRTUAL,
	`source` text GENERATED ALWAYS AS (json_extract(run, '$.source')) VIRTUAL,
	`requested_by` text GENERATED ALWAYS AS (json_extract(run, '$.requested_by')) VIRTUAL,
	`queued_at` text GENERATED ALWAYS AS (json_extract(run, '$.queued_at')) VIRTUAL,
	`finished_at` text GENERATED ALWAYS AS (json_extract(run, '$.finished_at')) VIRTUAL
);
--> statement-breakpoint
CREATE INDEX `ingest_runs_by_state` ON `ingest_runs` (`state`,`id`);--> statement-breakpoint
CREATE INDEX `ingest_runs_by_outcome` ON `ingest_runs` (`outcome`,`id`);--> statement-breakpoint
CREATE INDEX `ingest_runs_by_trigger` ON `ingest_runs` (`trigger`,`id`);--> statement-breakpoint
CREATE INDEX `ingest_runs_by_time` ON `ingest_runs` (`queued_at`);