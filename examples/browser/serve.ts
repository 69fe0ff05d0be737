/**
 * Bundles the pages (`/`, `/combobox.html`, `/combobox-react.html`) and serves them on loopback:
 *
 *   npx node examples/browser/serve.ts [PORT]
 */
import { context } from "esbuild";

const [port = "8000"] = process.argv.slice(2);

const page = await context({
  // The workers stand beside the page's script; Vite and webpack put them there by themselves.
  entryPoints: {
    main: `${import.meta.dirname}/main.ts`,
    combobox: `${import.meta.dirname}/combobox.ts`,
    "combobox-react": `${import.meta.dirname}/combobox-react.tsx`,
    worker: `${import.meta.dirname}/../../client/src/worker.ts`,
    "search-worker": `${import.meta.dirname}/../../client/src/search-worker.ts`,
  },
  bundle: true,
  format: "esm",
  jsx: "automatic",
  outdir: import.meta.dirname,
  write: false,
});
const server = await page.serve({
  host: "127.0.0.1",
  port: Number(port),
  servedir: import.meta.dirname,
});
console.log(`http://127.0.0.1:${server.port}/?service=http://127.0.0.1:8787&locale=de`);
// esbuild runs in a process of its own, which serves until it is told to stop.
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => void page.dispose().then(() => process.exit()));
