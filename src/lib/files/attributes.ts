/** What belongs to a file beside its bytes, owner and mode: access lists, capabilities and whatever else has a name. */
export type Attributes = ReadonlyMap<string, Buffer>;

const LIBRARIES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1'];
const MOST_BYTES = 65_536;
/** Given by the system itself, by rules of its own. */
const SYSTEM = /^security\.(?:selinux|ima|evm)$/;

/** Gives one file all attributes of another; false when the system refuses one. */
export function copyAttributes(from: string, to: string): boolean {
  const calls = openCalls();
  if (calls === undefined) return true;
  return [...readAll(calls, from)].every(([name, value]) => SYSTEM.test(name) || calls.set(to, name, value));
}

/** @internal Asked by tests. */
export function attributesOf(path: string): Attributes {
  const calls = openCalls();
  return calls === undefined ? new Map() : readAll(calls, path);
}

/** @internal Asked by tests. */
export function setAttribute(path: string, name: string, value: Buffer): boolean {
  return openCalls()?.set(path, name, value) === true;
}

type Calls = {
  list(path: string, into: Buffer): number;
  get(path: string, name: string, into: Buffer): number;
  set(path: string, name: string, value: Buffer): boolean;
};

function readAll(calls: Calls, path: string): Attributes {
  const names = Buffer.alloc(MOST_BYTES);
  const found = new Map<string, Buffer>();
  const length = calls.list(path, names);
  for (const name of names.toString('latin1', 0, Math.max(0, length)).split('\0')) {
    if (name === '') continue;
    const value = Buffer.alloc(MOST_BYTES);
    const size = calls.get(path, name, value);
    if (size >= 0) found.set(name, value.subarray(0, size));
  }
  return found;
}

/** Node has no words for them, so the system is asked through the runtime; where that cannot be, there are none. */
function openCalls(): Calls | undefined {
  if (process.platform !== 'linux') return undefined;
  for (const library of LIBRARIES) {
    try {
      const symbols = symbolsOf(library);
      if (symbols === undefined) return undefined;
      const { llistxattr, lgetxattr, lsetxattr } = symbols;
      const text = (words: string) => Buffer.from(`${words}\0`, 'utf8');
      return {
        list: (path, into) => Number(llistxattr(text(path), into, into.length)),
        get: (path, name, into) => Number(lgetxattr(text(path), text(name), into, into.length)),
        // An empty value needs an address, too.
        set: (path, name, value) =>
          Number(lsetxattr(text(path), text(name), Buffer.concat([value, Buffer.alloc(1)]), value.length, 0)) === 0,
      };
    } catch {
      // Another system, another name.
    }
  }
  return undefined;
}

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
} as const;
