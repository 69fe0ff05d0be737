/**
 * Does work for each of many, a few at a time, and gives the results in the order of the items.
 * Once the work for one has thrown, none is begun any more.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  atATime: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = entriesOf(items);
  const worker = async () => {
    // A generator that is left by a throw is at its end for the other workers as well.
    for (const [index, item] of waiting) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return results;
}

function* entriesOf<T>(items: readonly T[]): Generator<[index: number, item: T]> {
  yield* items.entries();
}
