/**
 * Stands for the name servers of workers.dev: a process that imports it reaches the service at
 * WORKERS_DEV under whatever name it calls there.
 */
const service = process.env["WORKERS_DEV"] ?? "";
const callNetwork = globalThis.fetch;

globalThis.fetch = (input, init) => {
  const url = input instanceof Request ? input.url : String(input);
  return /^https:\/\/[a-z.-]+\.workers\.dev(?=\/)/.test(url)
    ? callNetwork(url.replace(/^https:\/\/[^/]+/, service), init)
    : callNetwork(input, init);
};
