import { useCallback, useEffect, useState } from "preact/hooks";
import { formatPermalink, parsePermalink, type Permalink } from "./permalink.ts";

/** Returns the address's selection and a function to navigate. Back and forward work. */
export function usePermalink(): [Permalink, (change: Partial<Permalink>) => void] {
  const [link, setLink] = useState(() => parsePermalink(window.location.search));
  useEffect(() => {
    const onPopState = () => setLink(parsePermalink(window.location.search));
    window.addEventListener("popstate", onPopState);
    return () => window.removeEventListener("popstate", onPopState);
  }, []);
  const go = useCallback((change: Partial<Permalink>) => {
    setLink((before) => {
      const after = { ...before, ...change };
      const query = formatPermalink(after);
      if (query !== window.location.search)
        window.history.pushState(null, "", `${window.location.pathname}${query}`);
      return after;
    });
  }, []);
  return [link, go];
}
