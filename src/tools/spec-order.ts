import type { ToolSpec } from '../contracts/model.ts';

/** Tools keep the place they were first sent in and new ones come behind them: what stands before stays cached. */
export function createSpecOrder(before: readonly ToolSpec[]): (specs: readonly ToolSpec[]) => readonly ToolSpec[] {
  let known = before.map(({ name }) => name);
  return (specs) => {
    const places = new Map(known.map((name, at) => [name, at]));
    const fresh = specs.map(({ name }) => name).filter((name) => !places.has(name));
    for (const name of fresh) places.set(name, places.size);
    known = [...known, ...fresh];
    return specs.toSorted((one, other) => (places.get(one.name) ?? 0) - (places.get(other.name) ?? 0));
  };
}
