/**
 * Preloaded into the leader of a process group: ends the group when the process that started it is
 * gone, however it went. The starter has the other end of a pipe, which the system closes then.
 */
import { Socket } from "node:net";

const fd = process.env["STARTER_PIPE"];
if (fd !== undefined) {
  // The processes that this one starts load this file as well, and lack the pipe.
  Reflect.deleteProperty(process.env, "STARTER_PIPE");
  const pipe = new Socket({ fd: Number(fd) }).unref().resume();
  pipe.on("close", () => process.kill(-process.pid, "SIGKILL"));
}
