import type { GitSnapshot } from '../contracts/git-snapshot.ts';
import type { SystemPart } from '../contracts/model.ts';
import { renderRepositoryState } from './system-prompt.ts';

/** The instructions and environment the model knows, and the news for its next message. */
export type SystemPromptState = {
  /** Parts sent in the first message instead of the system prompt. */
  readonly moved: readonly SystemPart[];
  /** Memory file instructions last given to the model. */
  readonly memoryText: string;
  /** True in a resumed session, whose system prompt describes an earlier state. */
  readonly isResumed: boolean;
  /** True once the system prompt of a resumed session has been compared with the current state. */
  readonly isCompared: boolean;
  /** Texts for the next message. */
  readonly news: readonly string[];
  /** Absent outside a git repository. */
  readonly branch: string | undefined;
};

/** An event that changes the prompt state. */
export type SystemPromptEvent =
  | { readonly type: 'rendered'; readonly parts: readonly SystemPart[]; readonly dynamicParts: 'stay' | 'move' }
  /** Current instructions and repository state in a resumed session. */
  | {
      readonly type: 'compared';
      readonly system: readonly SystemPart[];
      readonly rendered: readonly SystemPart[];
      readonly git: GitSnapshot | undefined;
    }
  | { readonly type: 'branch'; readonly branch: string | undefined }
  | { readonly type: 'news_taken' }
  /** Earlier announcements were removed from the conversation; the system prompt remains. */
  | { readonly type: 'compacted'; readonly system: readonly SystemPart[] }
  | { readonly type: 'restarted' };

/** Creates the state of a new or resumed session. */
export function createSystemPromptState(
  sentBefore: { readonly system: readonly SystemPart[]; readonly memoryText: string | undefined } | undefined,
): SystemPromptState {
  return {
    moved: [],
    memoryText: sentBefore?.memoryText ?? getPromptPartText(sentBefore?.system ?? [], 'memory'),
    isResumed: sentBefore !== undefined,
    isCompared: false,
    news: [],
    branch: undefined,
  };
}

/** Returns the state after an event. */
export function reduceSystemPromptState(state: SystemPromptState, event: SystemPromptEvent): SystemPromptState {
  switch (event.type) {
    case 'rendered': {
      const moved = event.dynamicParts === 'move' ? event.parts.filter(isFolderDependentPromptPart) : [];
      return announceMovedParts({ ...state, moved, memoryText: getPromptPartText(event.parts, 'memory') });
    }
    case 'compared': {
      const memoryText = getPromptPartText(event.rendered, 'memory');
      const news = [
        ...describeGitChange(event.system, event.git),
        ...describeMemoryChange(state.memoryText, memoryText),
      ];
      return { ...state, isCompared: true, memoryText, news: [...state.news, ...news] };
    }
    case 'branch':
      return { ...state, branch: event.branch };
    case 'news_taken':
      return { ...state, news: [] };
    case 'compacted': {
      const next = announceMovedParts(state);
      return state.isResumed
        ? { ...next, memoryText: getPromptPartText(event.system, 'memory'), isCompared: false }
        : next;
    }
    case 'restarted':
      return { ...state, isCompared: true };
  }
}

/** Returns whether the system prompt still has to be compared with the current state. */
export function shouldCompareSystemPrompt({ isResumed, isCompared }: SystemPromptState): boolean {
  return isResumed && !isCompared;
}

/** Returns whether a part of the system prompt depends on the current folder. */
export function isFolderDependentPromptPart({ name }: SystemPart): boolean {
  return name === 'environment' || name === 'memory';
}

/** Returns the text of a part of the system prompt; empty when there is no such part. */
export function getPromptPartText(parts: readonly SystemPart[], name: string): string {
  return parts.find((part) => part.name === name)?.text ?? '';
}

function announceMovedParts(state: SystemPromptState): SystemPromptState {
  return { ...state, news: [...state.news, ...state.moved.map(({ text }) => text)] };
}

/** Announces the repository state when it differs from the snapshot in a resumed session's system prompt. */
function describeGitChange(system: readonly SystemPart[], git: GitSnapshot | undefined): readonly string[] {
  const before = getPromptPartText(system, 'environment');
  if (git === undefined || before === '') return [];
  const current = renderRepositoryState(git).join('\n');
  return before.includes(current) ? [] : [`When this session was resumed, the repository was like this:\n${current}`];
}

/** Announces changed instructions; the system prompt of a resumed session is sent unchanged. */
function describeMemoryChange(before: string, now: string): readonly string[] {
  if (now === before) return [];
  const change = now === '' ? 'There are none any more.' : `This is how they read now:\n\n${now}`;
  return [`The files of instructions have changed since this session began. ${change}`];
}
