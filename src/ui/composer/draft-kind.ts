import type { EditorState } from './editor-state.ts';

/** What sending this draft would do. */
export type DraftKind = 'empty' | 'message' | 'command' | 'shell' | 'memory';

/** A word the caret is in that a menu can complete. */
export type CompletionTarget = {
  /** `argument`: the last word of a command line, which is the query. */
  readonly kind: 'command' | 'file' | 'argument';
  readonly from: number;
  readonly to: number;
  readonly query: string;
};

// `@` opens the file menu at the start, after a space or after CJK punctuation.
const FILE_QUERY = /(?:^|[\s(（「『【，。、：；！？])@([^\s@]*)$/u;
const LOOK_BACK = 300;

/** Only typed text runs as a command: a `/` or `!` that was pasted is text. */
export function draftKind({ text, literal }: EditorState): DraftKind {
  if (/^\s*$/.test(text)) return 'empty';
  if (literal) return 'message';
  if (/^\/[\w:-]*(?=\s|$)/.test(text)) return 'command';
  if (text.startsWith('!')) return 'shell';
  return text.startsWith('#') && !text.startsWith('##') ? 'memory' : 'message';
}

/** The argument of a command that is being written, where somebody knows how it could go on. */
export function argumentTarget(
  { text, caret, literal }: EditorState,
  completes: (command: string) => boolean,
): CompletionTarget | undefined {
  const line = literal || caret > LOOK_BACK ? '' : text.slice(0, caret);
  const name = /^\/([\w:-]+)\s/.exec(line)?.[1];
  if (name === undefined || !completes(name)) return undefined;
  const [word = ''] = /(?:[\w-]+=)?"[^"]*$|\S*$/.exec(line) ?? [];
  return { kind: 'argument', from: caret - word.length, to: caret, query: line.slice(1) };
}

/** What the menu under the draft should offer, if anything. */
export function completionTarget(state: EditorState): CompletionTarget | undefined {
  const { text, caret, literal } = state;
  const command = literal || caret > LOOK_BACK ? null : /^\/([\w:-]*)$/.exec(text.slice(0, caret));
  if (command) return { kind: 'command', from: 0, to: caret, query: command[1] ?? '' };
  const before = text.slice(Math.max(0, caret - LOOK_BACK), caret);
  const query = FILE_QUERY.exec(before)?.[1];
  if (query === undefined) return undefined;
  return { kind: 'file', from: caret - query.length - 1, to: caret, query };
}
