import type { DraftEditorState } from './draft-editor-state.ts';

/** The kind of a draft: decides the effect of sending it. */
export type DraftKind = 'empty' | 'message' | 'command' | 'shell' | 'memory';

/** The word at the caret that a menu can complete. */
export type CompletionTarget = {
  /** For `argument`, the query is the command line up to the caret. */
  readonly kind: 'command' | 'file' | 'argument';
  readonly from: number;
  readonly to: number;
  readonly query: string;
};

// `@` opens the file menu at the start, after a space or after CJK punctuation.
const FILE_QUERY = /(?:^|[\s(（「『【，。、：；！？])@([^\s@]*)$/u;
const LOOK_BEHIND = 300;

/** Classifies a draft. Only typed text runs as a command: a pasted `/` or `!` is text. */
export function classifyDraft({ text, isLiteral }: DraftEditorState): DraftKind {
  if (/^\s*$/.test(text)) return 'empty';
  if (isLiteral) return 'message';
  if (/^\/[\w:-]*(?=\s|$)/.test(text)) return 'command';
  if (text.startsWith('!')) return 'shell';
  return text.startsWith('#') && !text.startsWith('##') ? 'memory' : 'message';
}

/** Returns the command argument at the caret, if the command can complete its arguments. */
export function findCompletableArgument(
  { text, caret, isLiteral }: DraftEditorState,
  completes: (command: string) => boolean,
): CompletionTarget | undefined {
  const line = isLiteral || caret > LOOK_BEHIND ? '' : text.slice(0, caret);
  const name = /^\/([\w:-]+)\s/.exec(line)?.[1];
  if (name === undefined || !completes(name)) return undefined;
  const [word = ''] = /(?:(?<![\w-])[\w-]+=)?"[^"]*$|(?<!\S)\S*$/.exec(line) ?? [];
  return { kind: 'argument', from: caret - word.length, to: caret, query: line.slice(1) };
}

/** Returns the command name or the file mention at the caret, if there is one. */
export function findCompletionTarget(state: DraftEditorState): CompletionTarget | undefined {
  const { text, caret, isLiteral } = state;
  const command = isLiteral || caret > LOOK_BEHIND ? null : /^\/([\w:-]*)$/.exec(text.slice(0, caret));
  if (command) return { kind: 'command', from: 0, to: caret, query: command[1] ?? '' };
  const before = text.slice(Math.max(0, caret - LOOK_BEHIND), caret);
  const query = FILE_QUERY.exec(before)?.[1];
  if (query === undefined) return undefined;
  return { kind: 'file', from: caret - query.length - 1, to: caret, query };
}

// CSI and OSC sequences are removed as a whole, so that pasted colours leave no `[31m`.
const ESCAPE_SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])?/g;
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
// Characters of this plane stand for collapsed pastes and images in a draft.
const PLACEHOLDER_PLANE = /[\u{100000}-\u{10ffff}]/gu;

/** Sanitizes text for a draft: removes escape sequences and control characters except tab and newline, uses `\n`. */
export function sanitizeDraftText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(ESCAPE_SEQUENCES, '')
    .replace(CONTROL_CHARACTERS, '')
    .toWellFormed()
    .replace(PLACEHOLDER_PLANE, '\ufffd');
}
