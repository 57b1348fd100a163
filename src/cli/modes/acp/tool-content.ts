import type { ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk/unstable';
import type { DiffHunk, Display } from '../../../contracts/display.ts';
import { isJsonObject, type JsonValue } from '../../../contracts/json.ts';
import type { ToolResultBlock } from '../../../contracts/message.ts';

const TOOL_KINDS: Readonly<Record<string, ToolKind>> = {
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

/** Returns the ACP kind of a tool, by which the editor chooses an icon. */
export function getAcpToolKind(tool: string): ToolKind {
  return TOOL_KINDS[tool] ?? 'other';
}

/** Returns true for tools that run a command in the foreground. */
export function isCommandTool(tool: string): boolean {
  return tool === 'Bash';
}

/** Returns the change an edit call proposes, as far as its input shows. */
export function createProposedDiff(tool: string, input: JsonValue): ToolCallContent[] {
  const path = getPath(input);
  if (getAcpToolKind(tool) !== 'edit' || path === undefined || !isJsonObject(input)) return [];
  const toDiff = (edit: JsonValue | undefined): ToolCallContent[] =>
    isJsonObject(edit) && typeof edit.old_string === 'string' && typeof edit.new_string === 'string'
      ? [{ type: 'diff', path, oldText: edit.old_string, newText: edit.new_string }]
      : [];
  if (typeof input.content === 'string') return [{ type: 'diff', path, oldText: null, newText: input.content }];
  const edits: readonly JsonValue[] = Array.isArray(input.edits) ? input.edits : [input];
  return edits.flatMap(toDiff);
}

/** Converts a diff display to one content item per hunk; returns `undefined` for other displays. */
export function convertDiffToAcp(display: Display | undefined): ToolCallContent[] | undefined {
  if (display?.kind !== 'diff') return undefined;
  const { path, created } = display;
  return display.hunks.map((hunk) => ({
    type: 'diff',
    path: hunk.path ?? path,
    oldText: created ? null : joinLines(hunk, 'del'),
    newText: joinLines(hunk, 'add'),
  }));
}

/** Returns the result of a call: a diff for file changes, otherwise the text the model got. */
export function createAcpResultContent(result: ToolResultBlock, display: Display | undefined): ToolCallContent[] {
  const diff = convertDiffToAcp(display);
  if (diff !== undefined) return diff;
  const parts = typeof result.content === 'string' ? [{ type: 'text' as const, text: result.content }] : result.content;
  return parts.flatMap((part): ToolCallContent[] => {
    if (part.type === 'text') return [{ type: 'content', content: { type: 'text', text: part.text } }];
    if (part.type === 'document') return [];
    const { data, media_type: mimeType } = part.source;
    return [{ type: 'content', content: { type: 'image', data, mimeType } }];
  });
}

function joinLines(hunk: DiffHunk, side: 'add' | 'del'): string {
  return hunk.lines
    .filter(({ kind }) => kind === 'same' || kind === side)
    .map(({ text }) => `${text}\n`)
    .join('');
}

/** Returns the file a call works on, which the editor can open. */
export function getAcpCallLocations(input: JsonValue): ToolCallLocation[] {
  const path = getPath(input);
  if (path === undefined) return [];
  const line = isJsonObject(input) && typeof input.offset === 'number' ? { line: input.offset } : {};
  return [{ path, ...line }];
}

function getPath(input: JsonValue): string | undefined {
  if (!isJsonObject(input)) return undefined;
  return [input.file_path, input.notebook_path, input.path].find((value) => typeof value === 'string');
}
