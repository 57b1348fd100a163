import type { GitSnapshot } from '../contracts/git-snapshot.ts';
import type { SystemPart } from '../contracts/model.ts';
import { gitLines } from './environment.ts';

/** What the model has been given of instructions and place, and what it is to be told next. */
export type PromptState = {
  /** Parts that stand in the first message in place of the system prompt. */
  readonly moved: readonly SystemPart[];
  /** The instructions of memory files as the model knows them. */
  readonly memoryText: string;
  /** Where the session is resumed, its prompt was written earlier and repeats what was so then. */
  readonly isResumed: boolean;
  readonly isCompared: boolean;
  /** Words for the next message. */
  readonly news: readonly string[];
  /** Paths that calls have read or changed since the last look. */
  readonly touched: readonly string[];
  /** Absent where there is no repository. */
  readonly branch: string | undefined;
};

export type PromptEvent =
  | { readonly type: 'rendered'; readonly parts: readonly SystemPart[]; readonly dynamicParts: 'stay' | 'move' }
  /** How instructions and repository are now, in a session that was resumed. */
  | {
      readonly type: 'compared';
      readonly system: readonly SystemPart[];
      readonly rendered: readonly SystemPart[];
      readonly git: GitSnapshot | undefined;
    }
  | { readonly type: 'branch'; readonly branch: string | undefined }
  | { readonly type: 'touched'; readonly path: string }
  | { readonly type: 'touched_taken' }
  | { readonly type: 'news_taken' }
  /** What was told in messages is gone; the system prompt is still there. */
  | { readonly type: 'compacted'; readonly system: readonly SystemPart[] }
  | { readonly type: 'restarted' };

export function initialPrompt(
  sentBefore: { readonly system: readonly SystemPart[]; readonly memoryText: string | undefined } | undefined,
): PromptState {
  return {
    moved: [],
    memoryText: sentBefore?.memoryText ?? partText(sentBefore?.system ?? [], 'memory'),
    isResumed: sentBefore !== undefined,
    isCompared: false,
    news: [],
    touched: [],
    branch: undefined,
  };
}

/** The prompt after an event; pure. */
export function reducePrompt(state: PromptState, event: PromptEvent): PromptState {
  switch (event.type) {
    case 'rendered': {
      const moved = event.dynamicParts === 'move' ? event.parts.filter(isDynamic) : [];
      return withMoved({ ...state, moved, memoryText: partText(event.parts, 'memory') });
    }
    case 'compared': {
      const memoryText = partText(event.rendered, 'memory');
      const news = [...gitNews(event.system, event.git), ...memoryNews(state.memoryText, memoryText)];
      return { ...state, isCompared: true, memoryText, news: [...state.news, ...news] };
    }
    case 'branch':
      return { ...state, branch: event.branch };
    case 'touched':
      return { ...state, touched: [...state.touched, event.path] };
    case 'touched_taken':
      return { ...state, touched: [] };
    case 'news_taken':
      return { ...state, news: [] };
    case 'compacted': {
      const again = withMoved(state);
      return state.isResumed ? { ...again, memoryText: partText(event.system, 'memory'), isCompared: false } : again;
    }
    case 'restarted':
      return { ...state, isCompared: true };
  }
}

/** Is the prompt of this session still to be compared with how things are now? */
export function mustCompare({ isResumed, isCompared }: PromptState): boolean {
  return isResumed && !isCompared;
}

/** What belongs to this folder alone. */
export function isDynamic({ name }: SystemPart): boolean {
  return name === 'environment' || name === 'memory';
}

export function partText(parts: readonly SystemPart[], name: string): string {
  return parts.find((part) => part.name === name)?.text ?? '';
}

function withMoved(state: PromptState): PromptState {
  return { ...state, news: [...state.news, ...state.moved.map(({ text }) => text)] };
}

/** Days may have passed since the snapshot in the prompt of a resumed session. */
function gitNews(system: readonly SystemPart[], git: GitSnapshot | undefined): readonly string[] {
  const before = partText(system, 'environment');
  if (git === undefined || before === '') return [];
  const words = gitLines(git).join('\n');
  return before.includes(words) ? [] : [`When this session was resumed, the repository was like this:\n${words}`];
}

/** The prompt of a resumed session stays as it was sent; that its instructions read differently now is news. */
function memoryNews(before: string, now: string): readonly string[] {
  if (now === before) return [];
  const words = now === '' ? 'There are none any more.' : `This is how they read now:\n\n${now}`;
  return [`The files of instructions have changed since this session began. ${words}`];
}
