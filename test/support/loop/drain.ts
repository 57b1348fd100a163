/** Reads a generator to its end: everything it yielded, and what it returned. */
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
