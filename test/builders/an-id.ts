/** UUIDv7 that ascend with `number`, and stay the same. */
export function anId(number: number): string {
  return `019aa3c0-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

/** UUIDv7 of a moment (milliseconds since 1970), in the order of `count` within it. */
export function idAt(ms: number, count: number): string {
  const time = Math.floor(ms).toString(16).padStart(12, "0");
  const order = (count % 0x1000).toString(16).padStart(3, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-8000-${String(count).padStart(12, "0")}`;
}
