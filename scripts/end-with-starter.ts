/**
 * Preloaded into the leader of a process group: ends the group when the process that started it has
 * ended, in whatever way. The system then closes their channel.
 */
process.on("disconnect", () => process.kill(-process.pid, "SIGKILL"));
