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
	`trigger` text NOT NULL,
	`requested_by` text NOT NULL,
	`started_at` text NOT NULL,
	`finished_at` text,
	`duration_ms` integer,
	`worst` text NOT NULL,
	`rules_total` integer NOT NULL,
	`pending` integer NOT NULL,
	`firing` integer NOT NULL,
	`fired` integer NOT NULL,
	`resolved` integer NOT NULL,
	`nodata` integer NOT NULL,
	`suppressed` integer NOT NULL,
	`notified` integer NOT NULL,
	`notify_failed` integer NOT NULL,
	`changed` integer NOT NULL,
	`results` text NOT NULL,
	`deliveries` text NOT NULL,
	`ping` text,
	`worker_version` text
);
--> statement-breakpoint
CREATE INDEX `alert_runs_by_worst` ON `alert_runs` (`worst`,`id`);--> statement-breakpoint
CREATE INDEX `alert_runs_by_changed` ON `alert_runs` (`changed`,`id`);--> statement-breakpoint
CREATE INDEX `alert_runs_by_time` ON `alert_runs` (`started_at`);--> statement-breakpoint
CREATE TABLE `alert_states` (
	`fingerprint` text PRIMARY KEY NOT NULL,
	`rule` text NOT NULL,
	`labels` text NOT NULL,
	`severity` text NOT NULL,
	`state` text NOT NULL,
	`since` text NOT NULL,
	`value` real,
	`threshold` real NOT NULL,
	`unit` text NOT NULL,
	`message` text NOT NULL,
	`evidence` text NOT NULL,
	`suppressed` integer NOT NULL,
	`run_id` text NOT NULL
);
