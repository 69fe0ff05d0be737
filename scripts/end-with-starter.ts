/**
 * Preloaded into the leader of a process group: ends the group when the process that started it is
 * gone, however it went. The system closes their channel then.
 */
process.on("disconnect", () => process.kill(-process.pid, "SIGKILL"));
