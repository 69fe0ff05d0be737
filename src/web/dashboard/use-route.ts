import { useEffect, useState } from "preact/hooks";

export const TABS = ["runs", "held", "versions", "alerts", "backups", "audit"] as const;

/** Part of the dashboard that the address names: `#runs`, or `#runs/<id>` for one run. */
interface Route {
  readonly tab: (typeof TABS)[number];
  readonly id: string | undefined;
}

/** Follows the fragment of the address. */
export function useRoute(): Route {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const onChange = () => setRoute(readRoute());
    window.addEventListener("hashchange", onChange);
    return () => window.removeEventListener("hashchange", onChange);
  }, []);
  return route;
}

function readRoute(): Route {
  const [name, id] = window.location.hash.slice(1).split("/");
  return { tab: TABS.find((tab) => tab === name) ?? "runs", id };
}
