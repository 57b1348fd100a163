/** Reads a generator to its end; returns the yielded values and the return value. */
export async function drain<Item, Result>(
  generator: AsyncGenerator<Item, Result>,
): Promise<{ readonly events: readonly Item[]; readonly result: Result }> {
  const events: Item[] = [];
  for (;;) {
    const step = await generator.next();
    if (step.done === true) return { events, result: step.value };
    events.push(step.value);
  }
}
