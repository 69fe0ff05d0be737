export function Glance(_: { now: number }) {
  return null;
}
