import { createLazy } from '../memoize.ts';
import { convertPathToBytes } from './non-utf8-paths.ts';

/** The extended attributes of a file by name: ACLs, capabilities and user attributes. */
export type ExtendedAttributes = ReadonlyMap<string, Buffer>;

const LIBRARIES = ['libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1'];
const MAX_VALUE_BYTES = 65_536;
/** Attributes that the system sets by its own rules. */
const SYSTEM_ATTRIBUTE = /^security\.(?:selinux|ima|evm)$/;

/** Reads the extended attributes of a path; empty on systems without them. */
export function readExtendedAttributes(path: string): ExtendedAttributes {
  const calls = openCalls();
  return calls === undefined ? new Map() : readAll(calls, path);
}

/** Copies all extended attributes to a file and removes its others. Returns `false` if the system refused one. */
export function copyExtendedAttributes(from: string, to: string): boolean {
  return setExtendedAttributes(to, readExtendedAttributes(from)).length === 0;
}

/** Sets the extended attributes of a path and removes all others. Returns the names for which this failed. */
export function setExtendedAttributes(path: string, wanted: ExtendedAttributes): readonly string[] {
  const calls = openCalls();
  if (calls === undefined) return [...wanted.keys()];
  const current = readAll(calls, path);
  const extra = [...current.keys()].filter((name) => !SYSTEM_ATTRIBUTE.test(name) && !wanted.has(name));
  const changed = [...wanted].filter(
    ([name, value]) => !SYSTEM_ATTRIBUTE.test(name) && current.get(name)?.equals(value) !== true,
  );
  return [
    ...extra.filter((name) => !calls.remove(path, name)),
    ...changed.filter(([name, value]) => !calls.set(path, name, value)).map(([name]) => name),
  ];
}

/** @internal Exported for tests. */
export function setExtendedAttribute(path: string, name: string, value: Buffer): boolean {
  return openCalls()?.set(path, name, value) === true;
}

type SystemCalls = ReturnType<typeof wrapSymbols>;

const NONE: ExtendedAttributes = new Map();

function readAll(calls: SystemCalls, path: string): ExtendedAttributes {
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

/** Opens the C functions through `bun:ffi`, because Node has no API for them; `undefined` on other runtimes. */
const openCalls = createLazy((): SystemCalls | undefined => {
  if (process.platform !== 'linux') return undefined;
  for (const library of LIBRARIES) {
    try {
      const symbols = openLibrary(library);
      return symbols === undefined ? undefined : wrapSymbols(symbols);
    } catch {
      // The library has another name on this system.
    }
  }
  return undefined;
});

function wrapSymbols({ llistxattr, lgetxattr, lsetxattr, lremovexattr }: Symbols) {
  const buffer = Buffer.alloc(MAX_VALUE_BYTES);
  const encodeText = (text: string) => Buffer.from(`${text}\0`, 'utf8');
  const toFsPath = (path: string) => Buffer.concat([convertPathToBytes(path), NUL]);
  const copyResult = (size: number) => Buffer.from(buffer.subarray(0, Math.max(0, size)));
  return {
    /** Returns the names, each followed by a NUL byte. */
    list: (path: string): Buffer => copyResult(Number(llistxattr(toFsPath(path), buffer, buffer.length))),
    get(path: string, name: string): Buffer | undefined {
      const size = Number(lgetxattr(toFsPath(path), encodeText(name), buffer, buffer.length));
      return size < 0 ? undefined : copyResult(size);
    },
    // The NUL gives an empty value an address, too.
    set: (path: string, name: string, value: Buffer): boolean =>
      Number(lsetxattr(toFsPath(path), encodeText(name), Buffer.concat([value, NUL]), value.length, 0)) === 0,
    remove: (path: string, name: string): boolean => Number(lremovexattr(toFsPath(path), encodeText(name))) === 0,
  };
}

const NUL = Buffer.alloc(1);

type NativeFunction = (...args: readonly (Uint8Array | number)[]) => number | bigint;
type Symbols = Readonly<Record<keyof typeof SIGNATURES, NativeFunction>>;

function openLibrary(library: string): Symbols | undefined {
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
