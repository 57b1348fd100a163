import { once } from '../once.ts';
import { bytesOfPath } from './byte-names.ts';

/** What belongs to a file beside its bytes, owner and mode: access lists, capabilities and whatever else has a name. */
export type Attributes = ReadonlyMap<string, Buffer>;

const LIBRARIES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1'];
const MOST_BYTES = 65_536;
/** Given by the system itself, by rules of its own. */
const SYSTEM = /^security\.(?:selinux|ima|evm)$/;

/** What a path has; empty where the system knows of none. */
export function attributesOf(path: string): Attributes {
  const calls = openCalls();
  return calls === undefined ? new Map() : readAll(calls, path);
}

/** Gives one file all attributes of another and no others; false when the system refuses one. */
export function copyAttributes(from: string, to: string): boolean {
  return setAttributes(to, attributesOf(from)).length === 0;
}

/** Gives a path these attributes and no others. Answers which could not be given or taken away. */
export function setAttributes(path: string, wanted: Attributes): readonly string[] {
  const calls = openCalls();
  if (calls === undefined) return [...wanted.keys()];
  const now = readAll(calls, path);
  const extra = [...now.keys()].filter((name) => !SYSTEM.test(name) && !wanted.has(name));
  const other = [...wanted].filter(([name, value]) => !SYSTEM.test(name) && now.get(name)?.equals(value) !== true);
  return [
    ...extra.filter((name) => !calls.remove(path, name)),
    ...other.filter(([name, value]) => !calls.set(path, name, value)).map(([name]) => name),
  ];
}

/** @internal Asked by tests. */
export function setAttribute(path: string, name: string, value: Buffer): boolean {
  return openCalls()?.set(path, name, value) === true;
}

type Calls = {
  /** The names, each with a NUL behind it. */
  list(path: string): Buffer;
  get(path: string, name: string): Buffer | undefined;
  set(path: string, name: string, value: Buffer): boolean;
  remove(path: string, name: string): boolean;
};

const NONE: Attributes = new Map();

function readAll(calls: Calls, path: string): Attributes {
  const names = calls.list(path);
  if (names.length === 0) return NONE;
  const found = names
    .toString('latin1')
    .split('\0')
    .flatMap((name) => {
      const value = name === '' ? undefined : calls.get(path, name);
      return value === undefined ? [] : [[name, value] as const];
    });
  return new Map(found);
}

/** Node has no words for them, so the system is asked through the runtime; where that cannot be, there are none. */
const openCalls = once((): Calls | undefined => {
  if (process.platform !== 'linux') return undefined;
  for (const library of LIBRARIES) {
    try {
      const symbols = symbolsOf(library);
      return symbols === undefined ? undefined : callsOf(symbols);
    } catch {
      // Another system, another name.
    }
  }
  return undefined;
});

function callsOf({ llistxattr, lgetxattr, lsetxattr, lremovexattr }: Symbols): Calls {
  const scratch = Buffer.alloc(MOST_BYTES);
  const text = (words: string) => Buffer.from(`${words}\0`, 'utf8');
  const at = (path: string) => Buffer.concat([bytesOfPath(path), NUL]);
  const copied = (size: number) => Buffer.from(scratch.subarray(0, Math.max(0, size)));
  return {
    list: (path) => copied(Number(llistxattr(at(path), scratch, scratch.length))),
    get(path, name) {
      const size = Number(lgetxattr(at(path), text(name), scratch, scratch.length));
      return size < 0 ? undefined : copied(size);
    },
    // An empty value needs an address, too.
    set: (path, name, value) =>
      Number(lsetxattr(at(path), text(name), Buffer.concat([value, NUL]), value.length, 0)) === 0,
    remove: (path, name) => Number(lremovexattr(at(path), text(name))) === 0,
  };
}

const NUL = Buffer.alloc(1);

type Call = (...args: readonly (Uint8Array | number)[]) => number | bigint;
type Symbols = Readonly<Record<keyof typeof SIGNATURES, Call>>;

function symbolsOf(library: string): Symbols | undefined {
  const ffi: object = process.getBuiltinModule('bun:ffi') ?? {};
  if (!('dlopen' in ffi) || typeof ffi.dlopen !== 'function') return undefined;
  return ffi.dlopen(library, SIGNATURES).symbols;
}

const SIGNATURES = {
  llistxattr: { args: ['ptr', 'ptr', 'usize'], returns: 'i64' },
  lgetxattr: { args: ['ptr', 'ptr', 'ptr', 'usize'], returns: 'i64' },
  lsetxattr: { args: ['ptr', 'ptr', 'ptr', 'usize', 'i32'], returns: 'i32' },
  lremovexattr: { args: ['ptr', 'ptr'], returns: 'i32' },
} as const;
