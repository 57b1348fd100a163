import path from 'node:path';
import type { JsonObject } from '../contracts/json.ts';
import type { DeclaredFacts, ToolKind, ToolTraits } from '../contracts/permission.ts';
import { toNativePath } from '../lib/files/path-style.ts';
import { narrowToString } from '../model/stream/json-values.ts';

type Facts = NonNullable<ToolTraits['facts']>;

/** Facts of a call that affects only the session. */
export const getSessionOnlyFacts: Facts = () => ({ kind: 'session' });

/** Creates the facts of a call that reads or edits the file its input names. */
export function createPathToolFacts(kind: 'read' | 'edit', key: string): Facts {
  return createTextToolFacts(kind, key, (path) =>
    kind === 'read' ? { kind, reads: [path] } : { kind, writes: [path] },
  );
}

/** Creates facts from one text of the input; reports a problem if it is missing. */
export function createTextToolFacts(kind: ToolKind, key: string, facts: (value: string) => DeclaredFacts): Facts {
  return (input) => {
    const value = narrowToString(input[key]);
    return value === undefined || value === ''
      ? { kind, problem: `Its ${key} is missing or not a text.` }
      : facts(value);
  };
}

/** Facts of a call that runs a shell command. */
export const getCommandToolFacts: Facts = (input, cwd) => {
  const facts = createTextToolFacts('shell', 'command', (command) => ({ kind: 'shell', command }))(input, cwd);
  const outsideReason = narrowToString(input.outside_sandbox);
  const writePaths = getTexts(input.sandbox_write);
  return {
    ...facts,
    ...(outsideReason === undefined || outsideReason === '' ? {} : { outside: outsideReason }),
    ...(writePaths.length === 0 ? {} : { opens: writePaths }),
  };
};

/** Returns the facts of a call that searches a folder with a pattern. */
export function getSearchPermissionFacts(input: JsonObject, cwd: string): DeclaredFacts {
  const folder = input.path === undefined ? cwd : narrowToString(input.path);
  if (folder === undefined) return { kind: 'read', problem: 'Its path is not a text.' };
  // A pattern may itself leave the folder.
  const patterns = [narrowToString(input.pattern) ?? '', narrowToString(input.glob) ?? ''];
  const leadingOut = patterns.filter((pattern) => /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(pattern));
  const startPaths = leadingOut.map((pattern) =>
    /^[/~]/.test(pattern) ? getFixedPart(pattern) : `${folder}/${getFixedPart(pattern)}`,
  );
  return { kind: 'read', reads: [folder, ...startPaths], searches: [folder] };
}

function getTexts(value: JsonObject[string]): readonly string[] {
  return [value].flat().flatMap((item) => narrowToString(item) ?? []);
}

/** Returns the part of a pattern before its first wildcard. */
function getFixedPart(pattern: string): string {
  const fixed = pattern.split(/[*?[{]/)[0] ?? '';
  return fixed === pattern ? pattern : fixed.replace(/(?<![^/])[^/]*$/, '') || '/';
}

/** Returns an absolute path: relative paths start from `cwd`, a leading `~/` is expanded. */
export function resolveToolPath(written: string, from: { readonly cwd: string; readonly home: string }): string {
  if (written === '~') return from.home;
  if (written.startsWith('~/')) return path.join(from.home, written.slice(2));
  return path.resolve(from.cwd, toNativePath(written));
}
