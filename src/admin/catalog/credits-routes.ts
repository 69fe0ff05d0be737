import * as z from "zod";
import { route } from "../http/route.ts";
import type { AdminPlatform } from "../admin-platform.ts";

const HEADERS = { "content-type": "text/markdown; charset=utf-8", vary: "accept" };

export function creditsRoutes({ notice }: AdminPlatform) {
  const credits = route({
    method: "get",
    path: "/credits",
    operationId: "getCredits",
    summary: "The credits that the data's licences require",
    description:
      "Sources, licences and changes. Show them where you show the data. A browser gets them as a page.",
    access: "public",
    responses: {
      200: { description: "In Markdown", body: z.string(), mediaType: "text/markdown" },
    },
  }).answer(async () => ({ status: 200, body: notice, headers: HEADERS }));
  return [credits];
}
