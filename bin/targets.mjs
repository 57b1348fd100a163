/**
 * The systems that executables are built for. `base` is the package of the runtime that an executable is made of; on x64
 * the one for processors without AVX2, which starts as fast.
 */
export const TARGETS = [
  { name: 'linux-x64', os: 'linux', cpu: 'x64', libc: 'glibc', base: 'bun-linux-x64-baseline' },
  { name: 'linux-x64-musl', os: 'linux', cpu: 'x64', libc: 'musl', base: 'bun-linux-x64-musl-baseline' },
  { name: 'linux-arm64', os: 'linux', cpu: 'arm64', libc: 'glibc', base: 'bun-linux-aarch64' },
  { name: 'linux-arm64-musl', os: 'linux', cpu: 'arm64', libc: 'musl', base: 'bun-linux-aarch64-musl' },
  { name: 'darwin-x64', os: 'darwin', cpu: 'x64', base: 'bun-darwin-x64-baseline' },
  { name: 'darwin-arm64', os: 'darwin', cpu: 'arm64', base: 'bun-darwin-aarch64' },
  { name: 'win32-x64', os: 'win32', cpu: 'x64', base: 'bun-windows-x64-baseline' },
  { name: 'win32-arm64', os: 'win32', cpu: 'arm64', base: 'bun-windows-aarch64' },
];

/** Returns the target of this machine, if there is one. */
export function findHostTarget() {
  const libc = process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  return TARGETS.find((one) => one.os === process.platform && one.cpu === process.arch && (one.libc ?? libc) === libc);
}

/** Returns the target with a name. */
export function findTarget(name) {
  const target = TARGETS.find((one) => one.name === name);
  if (target !== undefined) return target;
  throw new Error(`There is no target "${name}". Targets: ${TARGETS.map((one) => one.name).join(', ')}.`);
}

/** Returns the file name of a program on a target. */
export const programName = ({ os }, name) => (os === 'win32' ? `${name}.exe` : name);
