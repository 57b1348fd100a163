/** Freezes a value of plain data to the bottom; what is frozen already is taken to be so. */
export function deepFreeze<Value>(value: Value): Value {
  const waiting: unknown[] = [value];
  for (let one = waiting.pop(); waiting.length > 0 || one !== undefined; one = waiting.pop()) {
    if (typeof one !== 'object' || one === null || Object.isFrozen(one)) continue;
    Object.freeze(one);
    waiting.push(...Object.values(one).filter((part) => part !== undefined));
  }
  return value;
}
