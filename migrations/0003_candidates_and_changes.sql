ALTER TABLE `ingest_runs` ADD `candidate_of` text;--> statement-breakpoint
ALTER TABLE `ingest_runs` ADD `changes` text;