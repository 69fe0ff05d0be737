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
CREATE INDEX `audit_by_time` ON `audit` (`at`);