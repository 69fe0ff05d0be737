/**
 * Whether a host (a URL's `hostname`) belongs to a private network or this machine. Does not resolve
 * names, so a public name with a private address passes.
 */
export function isPrivateHost(hostname: string): boolean {
  if (hostname.startsWith("[")) return !isPublicV6(hostname.slice(1, -1));
  const octets = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(hostname)?.slice(1).map(Number);
  if (octets !== undefined) return isPrivateV4(octets);
  const name = hostname.replace(/\.$/, "");
  return !name.includes(".") || PRIVATE_ENDINGS.some((ending) => name.endsWith(ending));
}

/** RFC 6761, RFC 6762, RFC 8375 and ICANN's reserved `internal`. */
const PRIVATE_ENDINGS = [".localhost", ".local", ".internal", ".home.arpa"];

/** Blocks that are not globally reachable, as first address and prefix length (RFC 6890). */
const PRIVATE_V4: readonly (readonly [first: number, bits: number])[] = [
  [0x00000000, 8],
  [0x0a000000, 8],
  [0x64400000, 10],
  [0x7f000000, 8],
  [0xa9fe0000, 16],
  [0xac100000, 12],
  [0xc0000000, 24],
  [0xc0a80000, 16],
  [0xc6120000, 15],
  [0xe0000000, 3],
];

function isPrivateV4(octets: readonly number[]): boolean {
  const address = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  return PRIVATE_V4.some(([first, bits]) => {
    const size = 2 ** (32 - bits);
    return address >= first && address < first + size;
  });
}

/** Only 2000::/3 is routed. Within it, Teredo and 6to4 embed any IPv4 address. */
function isPublicV6(address: string): boolean {
  const [first = "", second = ""] = address.split(":");
  const group = Number.parseInt(first, 16);
  const isTeredo = group === 0x2001 && Number(`0x${second || "0"}`) === 0;
  return group >= 0x2000 && group <= 0x3fff && group !== 0x2002 && !isTeredo;
}
