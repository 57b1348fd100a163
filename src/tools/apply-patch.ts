import path from 'node:path';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { type CallStep, type Tool, ToolFailure } from '../contracts/tool.ts';
import { quoteShellWord } from '../lib/text/shell-quotes.ts';
import { narrowToString } from '../model/stream/json-values.ts';
import { bashTraits } from './bash/bash.ts';
import { buildTool } from './definition/build-tool.ts';
import { editTraits } from './edit/edit.ts';
import { multiEditTraits } from './edit/multi-edit.ts';
import { type FileChangeDeps, prepareFileRollback, refuseLockedFile } from './files/change-file.ts';

import { type ArgumentDependentToolName, type BuiltInToolTraits, defineToolTraits } from './input/call-forms.ts';
import { parseJsonText } from './input/coerce-input.ts';
import { resolveToolPath } from './tool-facts.ts';
import { writeTraits } from './write.ts';

const PATCH_START = '*** Begin Patch';
const FORM = `${PATCH_START}\\n*** Update File: src/a.ts\\n@@\\n context\\n-old\\n+new\\n*** End Patch`;

/** The traits of the ApplyPatch tool. */
export const applyPatchTraits: BuiltInToolTraits = defineToolTraits({
  name: 'ApplyPatch',
  // Each step is asked about by itself; these are the files of all of them.
  facts: ({ patch, folder }) => ({
    kind: 'other',
    writes: listPatchFiles(narrowToString(patch) ?? '', narrowToString(folder)),
  }),
  forms: {
    example: `apply_patch{input:"${FORM}"}`,
    names: ['apply_patch', 'patch', ...listShellNames()],
    synonyms: {
      patch: ['input', 'patch_text', 'diff', 'content', 'command', 'cmd', 'text'],
      folder: ['workdir', 'cwd', 'working_directory'],
    },
    conversions: { patch: (value) => ({ set: { patch: extractPatch(value) } }) },
    ignored: ['explanation', 'description', 'timeout', 'timeout_ms', 'justification', 'login', 'yield_time_ms'],
  },
});

/** Creates the tool that accepts a patch of several files. It only divides it into calls of other tools. */
export function createApplyPatchTool(deps: FileChangeDeps): Tool {
  return buildTool({
    ...applyPatchTraits,
    isHidden: true,
    prompt: 'Applies a patch to several files.',
    input: z.strictObject({ patch: z.string().describe(`A patch: ${FORM}`), folder: z.string().optional() }),
    title: ({ patch }) => `Patch ${describeFiles(patch)}`,
    findRefusal({ patch }) {
      const parsed = parsePatch(patch);
      if (parsed.ok) return undefined;
      return `The patch could not be read, so nothing was changed. ${parsed.problem} Form: ${FORM}`;
    },
    listSteps({ patch, folder }) {
      const parsed = parsePatch(patch);
      if (!parsed.ok) return [];
      const seen = new Set<string>();
      return parsed.files.flatMap((file) => {
        const isFollowing = listPaths(file).some((changed) => seen.has(changed));
        for (const changed of listPaths(file)) seen.add(changed);
        const steps = toSteps(file, (written) => path.join(folder ?? '', written));
        return steps.map((step, at) => ({ ...step, isFollowing: isFollowing || at > 0 }));
      });
    },
    async guardSteps({ patch, folder }, { cwd, signal }) {
      const files = listPatchFiles(patch, folder).map((file) => resolveToolPath(file, { cwd, home: deps.home }));
      const release = await deps.locks.hold(files, signal).catch(refuseLockedFile);
      try {
        return { ...(await prepareFileRollback(files, deps)), release };
      } catch (thrown) {
        await release();
        throw thrown;
      }
    },
    async call() {
      throw new ToolFailure('A patch is only accepted from the model. Use Edit and Write.');
    },
  });
}

const listPaths = (file: PatchedFile): readonly string[] =>
  file.kind === 'update' && file.movedTo !== undefined ? [file.path, file.movedTo] : [file.path];

/** Lists the files that a patch changes; none if it cannot be read. */
function listPatchFiles(patch: string, folder = ''): readonly string[] {
  const parsed = parsePatch(patch);
  const paths = parsed.ok ? parsed.files.flatMap(listPaths) : [];
  return [...new Set(paths)].map((written) => path.join(folder, written));
}

function describeFiles(patch: string): string {
  const parsed = parsePatch(patch);
  return parsed.ok ? parsed.files.map(({ path: file }) => file).join(', ') : 'that cannot be read';
}

/** Returns the calls that change one file. */
function toSteps(file: PatchedFile, resolve: (written: string) => string): readonly CallStep[] {
  const file_path = resolve(file.path);
  switch (file.kind) {
    case 'add':
      return [{ tool: writeTraits.name, input: { file_path, content: file.content } }];
    case 'delete':
      return [{ tool: bashTraits.name, input: { command: `rm -- ${quoteShellWord(file_path)}` } }];
    default:
      return [...toEdits(file_path, file.hunks), ...toMove(file_path, file.movedTo && resolve(file.movedTo))];
  }
}

function toEdits(file_path: string, hunks: Extract<PatchedFile, { kind: 'update' }>['hunks']): readonly CallStep[] {
  const edits = hunks.map(({ oldText, newText }) => ({ old_string: oldText, new_string: newText }));
  const [first, second] = edits;
  if (first === undefined) return [];
  if (second === undefined) return [{ tool: editTraits.name, input: { file_path, ...first } }];
  return [{ tool: multiEditTraits.name, input: { file_path, edits } }];
}

function toMove(from: string, to: string | undefined): readonly CallStep[] {
  if (to === undefined) return [];
  const folder = path.dirname(to);
  const create = folder === '.' ? '' : `mkdir -p -- ${quoteShellWord(folder)} && `;
  return [
    { tool: bashTraits.name, input: { command: `${create}mv -- ${quoteShellWord(from)} ${quoteShellWord(to)}` } },
  ];
}

/** A shell command that starts with `apply_patch` is a patch. */
function listShellNames(): readonly ArgumentDependentToolName[] {
  const when = (input: JsonObject) =>
    [input.command, input.cmd, input.script].some((value) => value !== undefined && isPatchCommand(value));
  const { name, forms } = bashTraits;
  return [name, ...(forms.names ?? [])].flatMap((form) => (typeof form === 'string' ? [{ name: form, when }] : []));
}

function isPatchCommand(value: JsonValue): boolean {
  const text = toText(value);
  return (
    /^\s*(?:(?:\/usr)?(?:\/bin\/)?(?:ba|z)?sh\s+-l?c\s+)?['"]?apply_patch\b/.test(text) && text.includes(PATCH_START)
  );
}

function toText(value: JsonValue): string {
  const parsed = typeof value === 'string' ? (parseJsonText(value) ?? value) : value;
  return Array.isArray(parsed) ? parsed.join(' ') : String(parsed);
}

/** Takes the patch out of a shell command or a list of words. */
function extractPatch(value: JsonValue): string {
  const text = toText(value);
  const start = text.indexOf(PATCH_START);
  const [, end] = /\n(\*\*\* End Patch)/.exec(text) ?? [];
  if (start === -1) return text;
  return end === undefined ? text.slice(start) : text.slice(start, text.lastIndexOf(end) + end.length);
}

/** One file of a patch in the `*** Begin Patch` format. */
type PatchedFile =
  | { readonly kind: 'add'; readonly path: string; readonly content: string }
  | { readonly kind: 'delete'; readonly path: string }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly movedTo: string | undefined;
      readonly hunks: readonly PatchHunk[];
    };

/** A replacement of lines. */
type PatchHunk = { readonly oldText: string; readonly newText: string };

/** The files of a patch, or the reason why it is not one. */
type ParsedPatch =
  | { readonly ok: true; readonly files: readonly PatchedFile[] }
  | { readonly ok: false; readonly problem: string };

const FILE_HEADER = /^\*\*\* (Add|Delete|Update) File: (.+)$/;
const MOVE_HEADER = /^\*\*\* Move to: (.+)$/;

/** Parses a patch: `*** Begin Patch`, then for each file its header and its lines, then `*** End Patch`. @internal */
export function parsePatch(text: string): ParsedPatch {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const start = lines.findIndex((line) => line.trim() === '*** Begin Patch');
  const end = lines.findLastIndex((line) => line.trim() === '*** End Patch');
  const body = lines.slice(start + 1, end === -1 ? lines.length : end);
  const firstHeader = body.findIndex((line) => FILE_HEADER.test(line.trim()));
  if (start === -1 || firstHeader === -1) return { ok: false, problem: 'It has no "*** Update File: path" line.' };
  const files: PatchedFile[] = [];
  for (let at = firstHeader; at < body.length; ) {
    const next = body.findIndex((line, index) => index > at && FILE_HEADER.test(line));
    const section = body.slice(at, next === -1 ? body.length : next);
    const file = parseFile(section);
    if (typeof file === 'string') return { ok: false, problem: file };
    files.push(file);
    at += section.length;
  }
  return { ok: true, files };
}

function parseFile([header = '', ...lines]: readonly string[]): PatchedFile | string {
  const [, action, written = ''] = FILE_HEADER.exec(header.trim()) ?? [];
  const path = written.trim();
  if (action === 'Delete') return { kind: 'delete', path };
  if (action === 'Add') {
    const added = dropTrailingBlanks(lines);
    const unmarked = added.find((line) => !line.startsWith('+'));
    if (unmarked !== undefined) return `Each line of the new file ${path} must begin with "+", not "${unmarked}".`;
    return { kind: 'add', path, content: added.map((line) => `${line.slice(1)}\n`).join('') };
  }
  const movedTo = MOVE_HEADER.exec(lines[0]?.trim() ?? '')?.[1]?.trim();
  const hunks = parseHunks(movedTo === undefined ? lines : lines.slice(1), path);
  if (typeof hunks === 'string') return hunks;
  if (hunks.length === 0 && movedTo === undefined) return `The part about ${path} has no lines with "-" or "+".`;
  return { kind: 'update', path, movedTo, hunks };
}

function parseHunks(lines: readonly string[], path: string): readonly PatchHunk[] | string {
  const hunks: PatchHunk[] = [];
  let heading = '';
  let oldLines: string[] = [];
  let newLines: string[] = [];
  const finish = () => {
    if (oldLines.join('\n') !== newLines.join('\n')) hunks.push(createHunk(oldLines, newLines, heading));
    oldLines = [];
    newLines = [];
  };
  for (const line of dropTrailingBlanks(lines)) {
    if (line.startsWith('@@')) {
      finish();
      heading = line.replace(/^@@ ?/, '').replace(/ ?@@$/, '');
    } else if (line.trim() === '*** End of File') continue;
    else if (line.startsWith('-')) oldLines.push(line.slice(1));
    else if (line.startsWith('+')) newLines.push(line.slice(1));
    else if (line.startsWith(' ') || line === '') {
      oldLines.push(line.slice(1));
      newLines.push(line.slice(1));
    } else return `A line about ${path} begins with none of " ", "-", "+" and "@@": "${line}".`;
  }
  finish();
  return hunks;
}

/** Creates a replacement; lines that are only added go behind the heading, the line that stands before them. */
function createHunk(oldLines: readonly string[], newLines: readonly string[], heading: string): PatchHunk {
  const isOnlyAdded = oldLines.length === 0 && heading !== '' && !/^-\d/.test(heading);
  const before = isOnlyAdded ? [heading] : oldLines;
  return { oldText: before.join('\n'), newText: (isOnlyAdded ? [heading, ...newLines] : newLines).join('\n') };
}

function dropTrailingBlanks(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1);
}
