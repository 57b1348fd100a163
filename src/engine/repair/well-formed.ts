import { MAX_DEPTH } from '../../lib/depth.ts';

/** Deeper than any block that is sendable; what is deeper still came from elsewhere. */
const LEVELS = MAX_DEPTH + 20;
const TOO_DEEP = '(nested too deep, left out)';

/** The same value without lone surrogates anywhere, and no deeper than can be sent. Copies only what has to change. */
export function wellFormed<Value>(value: Value): Value {
  return isWellFormed(value, LEVELS) ? value : JSON.parse(JSON.stringify(value, mender(value)));
}

/** Goes down from holder to holder and never further than the limit. */
function mender(root: unknown) {
  const levels = new WeakMap<object, number>();
  return function mend(this: object, key: string, value: unknown): unknown {
    if (typeof value === 'string') return value.toWellFormed();
    if (!isObject(value)) return value;
    const left = key === '' && value === root ? LEVELS : (levels.get(this) ?? LEVELS) - 1;
    if (left === 0) return TOO_DEEP;
    const named = withKeys(value);
    levels.set(named, left);
    return named;
  };
}

function withKeys(value: object): object {
  if (Array.isArray(value) || Object.keys(value).every((key) => key.isWellFormed())) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key.toWellFormed(), part]));
}

/** Blocks that were looked through once: they never change, and go out again with every request. */
const known = new WeakSet<object>();
/** Below a list of messages, a message and its list of blocks. */
const BLOCK_LEVEL = LEVELS - 3;

function isWellFormed(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (!isObject(value)) return true;
  if (levels === 0) return false;
  if (levels !== BLOCK_LEVEL) return areWellFormed(value, levels);
  if (known.has(value)) return true;
  if (!areWellFormed(value, levels)) return false;
  known.add(value);
  return true;
}

function areWellFormed(value: object, levels: number): boolean {
  if (Array.isArray(value)) return value.every((part) => isWellFormed(part, levels - 1));
  return Object.entries(value).every(([key, part]) => key.isWellFormed() && isWellFormed(part, levels - 1));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
