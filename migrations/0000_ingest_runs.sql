CREATE TABLE `ingest_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`seq` integer NOT NULL,
	`state` text NOT NULL,
	`outcome` text,
	`trigger` text NOT NULL,
	`mode` text NOT NULL,
	`source` text NOT NULL,
	`requested_by` text NOT NULL,
	`note` text,
	`retries` integer NOT NULL,
	`queued_at` text NOT NULL,
	`started_at` text,
	`heartbeat_at` text,
	`finished_at` text,
	`stage` text,
	`progress` text NOT NULL,
	`sources` text NOT NULL,
	`accounting` text,
	`generation_before` integer,
	`generation_after` integer,
	`catalog_sha256` text,
	`error` text
);
--> statement-breakpoint
CREATE INDEX `ingest_runs_by_state` ON `ingest_runs` (`state`,`id`);