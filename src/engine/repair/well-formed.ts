/** The same value without lone surrogates anywhere. Copies only what has to change. */
export function wellFormed<Value>(value: Value): Value {
  return isWellFormed(value) ? value : JSON.parse(JSON.stringify(value, mend));
}

function mend(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  return Object.keys(value).every((key) => key.isWellFormed()) && Object.values(value).every(isWellFormed);
}
