import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Interval of the line on a terminal, and of the lines elsewhere, such as in the log of a CI job. */
const REDRAW_MS = 500;
const LOG_MS = 15_000;

/**
 * Shows a step while its work runs: one line that is redrawn and erased at the end on a terminal, else a line at the
 * start and one every 15 seconds. `getDetail` returns what is done so far.
 */
export async function showProgress(title, work, { getDetail = () => [], stream = process.stderr } = {}) {
  const startedAt = Date.now();
  const format = () => [title, ...getDetail(), formatElapsed(Date.now() - startedAt), 'once'].join(' · ');
  const draw = () => stream.write(`\r${fitLine(format(), stream.columns)}\x1b[K`);
  const log = () => stream.write(`ouro: ${format()}\n`);
  if (stream.isTTY) draw();
  else stream.write(`ouro: ${title}, once …\n`);
  const timer = setInterval(stream.isTTY ? draw : log, stream.isTTY ? REDRAW_MS : LOG_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    if (stream.isTTY) stream.write('\r\x1b[K');
  }
}

/** Cuts a line to one row, because only a single row can be redrawn. */
function fitLine(text, columns) {
  return text.slice(0, (columns || 80) - 1);
}

function formatElapsed(ms) {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}

/** Counts the packages among these that are already unpacked, in percent. */
export function createPackageCounter(root, paths) {
  // A package that was seen is not looked for again.
  const waiting = new Set(paths);
  return () => {
    for (const path of waiting) if (existsSync(join(root, path, 'package.json'))) waiting.delete(path);
    return paths.length === 0 ? [] : [`${Math.floor((100 * (paths.length - waiting.size)) / paths.length)}%`];
  };
}

/**
 * Lists the paths of the packages that npm installs on a machine, as npm reaches them from the root package and the
 * workspaces.
 *
 * @param {{ readonly packages: Readonly<Record<string, any>> }} lock
 * @param {{ readonly os: string; readonly cpu: string; readonly libc?: string }} machine
 */
export function listPackages({ packages }, machine = thisMachine()) {
  const found = new Set();
  const waiting = Object.keys(packages).filter(isOwnPackage);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const name of listDependencies(packages[path] ?? {}, path)) {
      const target = resolveDependency(packages, path, name);
      if (target === undefined || found.has(target) || !fitsMachine(packages[target], machine)) continue;
      found.add(target);
      waiting.push(target);
    }
  }
  return [...found].filter((path) => packages[path].link !== true);
}

/** The root package and the workspaces, whose tools are installed as well. */
const isOwnPackage = (path) => !path.includes('node_modules/');

function listDependencies({ dependencies, devDependencies, optionalDependencies, peerDependencies }, path) {
  return Object.keys({
    ...dependencies,
    ...optionalDependencies,
    ...peerDependencies,
    ...(isOwnPackage(path) ? devDependencies : {}),
  });
}

/** Resolves a name as Node does: in the package itself, then in the folders above it. */
function resolveDependency(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, path)) return path;
    if (folder === '') return undefined;
  }
}

function fitsMachine({ os, cpu, libc }, machine) {
  return (
    matches(os, machine.os) && matches(cpu, machine.cpu) && (machine.libc === undefined || matches(libc, machine.libc))
  );
}

/** Matches a value against a list such as `["linux", "darwin"]` or `["!win32"]`. */
function matches(list, value) {
  if (list === undefined) return true;
  if (list.includes(`!${value}`)) return false;
  return list.includes(value) || list.every((entry) => entry.startsWith('!'));
}

function thisMachine() {
  const libc = process.platform === 'linux' ? findLibc() : undefined;
  return { os: process.platform, cpu: process.arch, libc };
}

function findLibc() {
  // Without this, the report looks up the names of all open connections.
  if (process.report !== undefined) process.report.excludeNetwork = true;
  return process.report?.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}
