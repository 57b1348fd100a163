import { resolve } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import type { DeclaredFacts } from '../contracts/permission.ts';
import { resolveToolPath } from './tool-facts.ts';
import { findBuiltInToolTraits } from './tool-traits.ts';

/** A call as the model made it. */
type Call = { readonly tool: string; readonly input: JsonValue };

/** Lists the absolute paths of the files a call reads and writes, by the facts of its tool; a search reads none. */
export function listTouchedFiles(
  { tool, input }: Call,
  from: { readonly cwd: string; readonly home: string },
): { readonly reads: readonly string[]; readonly writes: readonly string[] } {
  const { reads = [], writes = [], searches } = getFacts(tool, input, from.cwd);
  const resolvePath = (path: string) => resolve(resolveToolPath(path, from));
  if (searches !== undefined) return { reads: [], writes: [] };
  return { reads: reads.map(resolvePath), writes: writes.map(resolvePath) };
}

/** Lists the files and folders a call works on as it names them, with the line it begins at. */
export function listCallLocations({ tool, input }: Call): readonly { readonly path: string; readonly line?: number }[] {
  const { reads = [], writes = [] } = getFacts(tool, input, '');
  const line = isJsonObject(input) && typeof input.offset === 'number' ? { line: input.offset } : {};
  return [...new Set([...reads, ...writes])].filter((path) => path !== '').map((path) => ({ path, ...line }));
}

/** Lists the texts that an edit replaces and writes, as far as its input shows; a whole file replaces nothing known. */
export function listProposedEdits(input: JsonObject): readonly { readonly before?: string; readonly after: string }[] {
  if (typeof input.content === 'string') return [{ after: input.content }];
  const edits: readonly (JsonValue | undefined)[] = Array.isArray(input.edits) ? input.edits : [input];
  return edits.flatMap((edit) =>
    isJsonObject(edit) && typeof edit.old_string === 'string' && typeof edit.new_string === 'string'
      ? [{ before: edit.old_string, after: edit.new_string }]
      : [],
  );
}

function getFacts(tool: string, input: JsonValue, cwd: string): Partial<DeclaredFacts> {
  return (isJsonObject(input) ? findBuiltInToolTraits(tool)?.facts?.(input, cwd) : undefined) ?? {};
}
