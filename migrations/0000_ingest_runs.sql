CREATE TABLE `ingest_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`state` text NOT NULL,
	`outcome` text,
	`trigger` text NOT NULL,
	`mode` text NOT NULL,
	`source` text NOT NULL,
	`forced` integer NOT NULL,
	`requested_by` text NOT NULL,
	`note` text,
	`attempt` integer NOT NULL,
	`parent_run_id` text,
	`retries` integer NOT NULL,
	`queued_at` text NOT NULL,
	`started_at` text,
	`heartbeat_at` text,
	`finished_at` text,
	`duration_ms` integer,
	`stage` text,
	`progress` text NOT NULL,
	`skipped_reason` text,
	`skip_count` integer NOT NULL,
	`upstream` text NOT NULL,
	`counts` text,
	`rejects` text NOT NULL,
	`rejects_total` integer NOT NULL,
	`accounting` text,
	`generation_before` integer,
	`generation_after` integer,
	`catalog_sha256` text,
	`guards` text NOT NULL,
	`error` text,
	`worker_version` text
);
--> statement-breakpoint
CREATE INDEX `ingest_runs_by_state` ON `ingest_runs` (`state`,`id`);--> statement-breakpoint
CREATE INDEX `ingest_runs_by_outcome` ON `ingest_runs` (`outcome`,`id`);--> statement-breakpoint
CREATE INDEX `ingest_runs_by_trigger` ON `ingest_runs` (`trigger`,`id`);--> statement-breakpoint
CREATE INDEX `ingest_runs_by_time` ON `ingest_runs` (`queued_at`);