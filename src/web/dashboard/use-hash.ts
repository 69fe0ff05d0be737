import { useEffect, useState } from "preact/hooks";

/** Returns the address's fragment if it is one of these, else the first. */
export function useHash<T extends string>(choices: readonly [T, ...T[]]): T {
  const read = () => choices.find((choice) => window.location.hash === `#${choice}`) ?? choices[0];
  const [hash, setHash] = useState(read);
  useEffect(() => {
    const onChange = () => setHash(read());
    window.addEventListener("hashchange", onChange);
    return () => window.removeEventListener("hashchange", onChange);
  }, []);
  return hash;
}
