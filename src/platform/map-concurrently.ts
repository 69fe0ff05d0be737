/** Maximum number of objects of a backup that one step reads. */
export const OBJECTS_PER_STEP = 48;
/** Maximum number of objects of a backup in memory at a time. */
export const OBJECTS_AT_A_TIME = 6;

/** Maps items concurrently, in order. Starts no more work after one call has rejected. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  atATime: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = entriesOf(items);
  const worker = async () => {
    // A rejection closes the generator for the other workers as well.
    for (const [index, item] of waiting) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return results;
}

function* entriesOf<T>(items: readonly T[]): Generator<[index: number, item: T]> {
  yield* items.entries();
}
