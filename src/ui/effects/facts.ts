import { relative } from 'node:path';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation, ConversationInfo } from '../../contracts/face/conversation.ts';
import { formatCount, formatTokens } from '../../lib/text/format.ts';
import type { StatusFacts, ViewState } from '../view/view-state.ts';

/** What the status line shows, as it is right now. */
export function statusFactsOf(conversation: Conversation): StatusFacts {
  const info = conversation.info();
  return {
    mode: info.mode,
    model: info.model,
    contextTokens: info.contextTokens,
    contextWindow: info.modelInfo.contextWindow,
    costUsd: info.earlierCostUsd + conversation.usage().costUsd,
    branch: info.gitBranch,
    ...(info.cwd === info.folder ? {} : { shellAt: relative(info.folder, info.cwd) || info.cwd }),
    background: conversation.background().length,
    isDemo: info.isDemo,
  };
}

/** The same anew, with what only the screen knows. */
export function factsNow({ script }: StatusFacts, conversation: Conversation): StatusFacts {
  return { ...statusFactsOf(conversation), ...(script === undefined ? {} : { script }) };
}

/** Asks for the person's own words for the status line; they come when they come. */
export function askStatusLine(
  { statusLine }: Pick<Conversation, 'statusLine'>,
  change: (update: (view: ViewState) => ViewState) => void,
): void {
  void statusLine?.().then((script) =>
    change((now) => {
      const { script: before, ...ours } = now.facts;
      if (script === before) return now;
      return { ...now, facts: script === undefined ? ours : { ...ours, script } };
    }),
  );
}

/** Is the status line out of date after this? */
export function changesFacts({ type }: AgentEvent): boolean {
  return type === 'turn_start' || type === 'turn_end' || type === 'agent_end' || type === 'mode' || type === 'notice';
}

/** Two lines at the start: what this is, and where we are with what of the project is in effect. */
export function bannerLines(info: ConversationInfo): readonly string[] {
  const { version, model, modelInfo, folder, gitBranch, mcpServers, skills, trusted } = info;
  const effects = [
    ...(mcpServers.length === 0 ? [] : [formatCount(mcpServers.length, 'MCP server')]),
    ...(skills.length === 0 ? [] : [formatCount(skills.length, 'skill')]),
    trusted ? 'trusted' : 'not trusted',
  ];
  const place = gitBranch === undefined ? folder : `${folder}  on ${gitBranch}`;
  return [
    `ouro ${version}     ${model} · ${formatTokens(modelInfo.contextWindow)} window`,
    `${place}   ${effects.join(' · ')}`,
  ];
}
