import { useCallback, useEffect, useState } from "preact/hooks";
import { formatPermalink, parsePermalink, type Permalink } from "./permalink.ts";

type Go = (change: Partial<Permalink>) => void;

/**
 * Returns the content of the address and a function to navigate. Back and forward work. A change of
 * the view only is no step of its own.
 */
export function usePermalink(): [Permalink, Go] {
  const [link, setLink] = useState(() => parsePermalink(window.location.search));
  useEffect(() => {
    const onPopState = () => setLink(parsePermalink(window.location.search));
    window.addEventListener("popstate", onPopState);
    return () => window.removeEventListener("popstate", onPopState);
  }, []);
  const go = useCallback<Go>((change) => {
    setLink((before) => {
      const after = { ...before, ...change };
      const query = formatPermalink(after);
      if (query === window.location.search) return after;
      const isStep = Object.keys(change).some((name) => name !== "view");
      const url = `${window.location.pathname}${query}`;
      window.history[isStep ? "pushState" : "replaceState"](null, "", url);
      return after;
    });
  }, []);
  return [link, go];
}
