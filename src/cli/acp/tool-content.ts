import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk/unstable';
import type { DiffHunk, Display } from '../../contracts/display.ts';
import { isJsonObject, type JsonValue } from '../../contracts/json.ts';
import type { ToolResultBlock } from '../../contracts/message.ts';

const KINDS: Readonly<Record<string, ToolKind>> = {
  Read: 'read',
  Edit: 'edit',
  MultiEdit: 'edit',
  Write: 'edit',
  NotebookEdit: 'edit',
  Grep: 'search',
  Glob: 'search',
  Bash: 'execute',
  BashOutput: 'execute',
  KillShell: 'execute',
  WebFetch: 'fetch',
  WebSearch: 'fetch',
  Task: 'think',
  ExitPlanMode: 'switch_mode',
};

/** The editor chooses an icon by this. */
export function toolKindOf(tool: string): ToolKind {
  return KINDS[tool] ?? 'other';
}

/** Does a call of this tool run a command and wait for it? */
export function runsCommand(tool: string): boolean {
  return tool === 'Bash';
}

/** What a call would change, as far as its input tells. */
export function proposedContent(tool: string, input: JsonValue): ToolCallContent[] {
  const path = pathOf(input);
  if (toolKindOf(tool) !== 'edit' || path === undefined || !isJsonObject(input)) return [];
  const change = (one: JsonValue | undefined): ToolCallContent[] =>
    isJsonObject(one) && typeof one.old_string === 'string' && typeof one.new_string === 'string'
      ? [{ type: 'diff', path, oldText: one.old_string, newText: one.new_string }]
      : [];
  if (typeof input.content === 'string') return [{ type: 'diff', path, oldText: null, newText: input.content }];
  const edits: readonly JsonValue[] = Array.isArray(input.edits) ? input.edits : [input];
  return edits.flatMap(change);
}

/** A change as its hunks; `undefined` when it is none. */
export function diffContent(display: Display | undefined): ToolCallContent[] | undefined {
  if (display?.kind !== 'diff') return undefined;
  const { path, created } = display;
  return display.hunks.map((hunk) => ({
    type: 'diff',
    path,
    oldText: created ? null : textOf(hunk, 'del'),
    newText: textOf(hunk, 'add'),
  }));
}

/** What came of a call: a diff where files changed, otherwise the words the model read. */
export function resultContent(result: ToolResultBlock, display: Display | undefined): ToolCallContent[] {
  const diff = diffContent(display);
  if (diff !== undefined) return diff;
  const parts = typeof result.content === 'string' ? [{ type: 'text' as const, text: result.content }] : result.content;
  return parts.flatMap((part): ToolCallContent[] => {
    if (part.type === 'text') return [{ type: 'content', content: { type: 'text', text: part.text } }];
    if (part.type === 'document') return [];
    const { data, media_type: mimeType } = part.source;
    return [{ type: 'content', content: { type: 'image', data, mimeType } }];
  });
}

function textOf(hunk: DiffHunk, side: 'add' | 'del'): string {
  return hunk.lines
    .filter(({ kind }) => kind === 'same' || kind === side)
    .map(({ text }) => `${text}\n`)
    .join('');
}

/** The file a call is about, so that the editor can follow. */
export function locationsOf(input: JsonValue): ToolCallLocation[] {
  const path = pathOf(input);
  if (path === undefined) return [];
  const line = isJsonObject(input) && typeof input.offset === 'number' ? { line: input.offset } : {};
  return [{ path, ...line }];
}

function pathOf(input: JsonValue): string | undefined {
  if (!isJsonObject(input)) return undefined;
  return [input.file_path, input.notebook_path, input.path].find((one) => typeof one === 'string');
}
