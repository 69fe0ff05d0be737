import * as z from "zod";
import { setAsideSchema } from "../../storage/object-tables.ts";
import { noteField, outcome } from "../http/query.ts";
import { route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";

const rows = z.array(setAsideSchema);
const lists = z.strictObject({ coordinator: rows, monitor: rows });

export function setAsideRoutes({ coordinator, alerts }: AdminPlatform) {
  const list = route({
    method: "get",
    path: "/admin/monitor/set-aside",
    operationId: "listSetAside",
    summary: "List the stored values that were set aside",
    description:
      "The coordinator and the alert monitor go on without them. The last hundred of each stay in this list until you delete it; the log has all.",
    access: "read",
    responses: { 200: { description: "The values", body: lists } },
  }).answer(async () => {
    const [ofCoordinator, ofMonitor] = await Promise.all([
      coordinator.setAside(),
      alerts.setAside(),
    ]);
    return { status: 200, body: { coordinator: ofCoordinator, monitor: ofMonitor } };
  });

  const forget = route({
    method: "delete",
    path: "/admin/monitor/set-aside",
    operationId: "forgetSetAside",
    summary: "Delete the list of values set aside",
    description: "Ends the alert `values_set_aside`.",
    access: "operate",
    action: "set_aside.forget",
    query: z.strictObject({ note: noteField }),
    responses: { 200: { description: "The deleted list", body: lists.extend(outcome) } },
  }).answer(async () => {
    const [ofCoordinator, ofMonitor] = await Promise.all([
      coordinator.forgetSetAside(),
      alerts.forgetSetAside(),
    ]);
    const forgotten = { coordinator: ofCoordinator, monitor: ofMonitor };
    const count = ofCoordinator.length + ofMonitor.length;
    const message = count === 0 ? "Every stored value can be read." : `Deleted: ${count}.`;
    return {
      status: 200,
      body: { ...forgotten, changed: count > 0, message },
      change: { before: { values: count } },
    };
  });

  return [list, forget];
}
