import { relative } from 'node:path';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation, ConversationInfo, StoredSessionsPort } from '../../contracts/face/conversation.ts';
import { formatCount, formatTokens } from '../../lib/text/format.ts';
import { homePath } from '../../lib/text/home-path.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { isBusy, printing, type StatusFacts, type ViewState } from '../view/view-state.ts';

const MOST_TITLE = 60;

/** What the status line shows, as it is right now. */
export function statusFactsOf(conversation: Conversation): StatusFacts {
  const info = conversation.info();
  return {
    mode: info.mode,
    ...(info.offersAuto === undefined ? {} : { offersAuto: info.offersAuto }),
    model: info.modelInfo.label,
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
export function bannerLines(info: ConversationInfo, branchSign: string): readonly string[] {
  const { version, modelInfo, folder, home, gitBranch, mcpServers, skills, trusted } = info;
  const effects = [
    ...(mcpServers.length === 0 ? [] : [formatCount(mcpServers.length, 'MCP server')]),
    ...(skills.length === 0 ? [] : [formatCount(skills.length, 'skill')]),
    trusted ? 'trusted' : 'not trusted',
  ];
  const branch = gitBranch === undefined ? '' : `  ${branchSign} ${gitBranch}`;
  return [
    `ouro ${version}     ${modelInfo.label} · ${formatTokens(modelInfo.contextWindow)} window`,
    `${homePath(folder, home)}${branch}   ${effects.join(' · ')}`,
  ];
}

/** Says which session of this folder was the last one, as long as nothing has been said in this one. */
export async function offerLastSession(
  {
    storedSessions,
    agent,
  }: { readonly agent: Conversation['agent']; readonly storedSessions?: Pick<StoredSessionsPort, 'list'> },
  change: (update: (view: ViewState) => ViewState) => void,
): Promise<void> {
  if (agent.state().messages.length > 0) return;
  const [last] = (await storedSessions?.list('folder')) ?? [];
  if (last === undefined) return;
  const [age = '', ...more] = last.detail.split(', ');
  const when = age === 'now' ? 'just now' : `${age} ago`;
  const facts = more.length === 0 ? '' : ` · ${more.slice(0, 2).join(' · ')}`;
  const text = `${when}  ${oneLine(last.label).slice(0, MOST_TITLE)}${facts}     ouro -c or /resume goes on there`;
  change((view) => {
    const isFresh = view.lastPrompt === '' && !isBusy(view) && view.overlay?.kind !== 'sessions';
    return isFresh ? printing(view, { kind: 'last_session', text }) : view;
  });
}
