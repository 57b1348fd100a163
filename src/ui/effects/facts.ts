import type { Conversation, ConversationInfo } from '../../contracts/face/conversation.ts';
import type { StatusFacts } from '../view/view-state.ts';

/** What the status line shows, as it is right now. */
export function factsOf(conversation: Conversation): StatusFacts {
  const info = conversation.info();
  return {
    mode: info.mode,
    model: info.model,
    contextTokens: info.contextTokens,
    contextWindow: info.modelInfo.contextWindow,
    costUsd: conversation.usage().costUsd,
    branch: info.gitBranch,
    background: conversation.background().length,
    isDemo: info.isDemo ? 'yes' : 'no',
  };
}

/** Two lines at the start: where we are, and what could be tried. */
export function bannerLines({ version, model, cwd, gitBranch }: ConversationInfo): readonly string[] {
  return [
    ['ouro', version, '·', model, '·', cwd, ...(gitBranch === undefined ? [] : ['·', gitBranch])].join(' '),
    'Say what you want done.   ? keys   / commands   @ files   ! shell',
  ];
}
