import { basename, relative } from 'node:path';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation, ConversationInfo } from '../../contracts/face/conversation.ts';
import type { StoredSessionsPort } from '../../contracts/face/stored-sessions.ts';
import { formatAgo, formatCount, formatTokens } from '../../lib/text/format.ts';
import { homePath } from '../../lib/text/home-path.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import type { Banner } from '../view/history-item.ts';
import { isBusy, printing, type StatusFacts, type ViewState } from '../view/view-state.ts';

const MOST_NAMES = 2;

/** What the status line shows, as it is right now. */
export function statusFactsOf(conversation: Conversation): StatusFacts {
  const info = conversation.info();
  const { costUsd, lines } = conversation.usage();
  return {
    mode: info.mode,
    ...(info.offersAuto === undefined ? {} : { offersAuto: info.offersAuto }),
    model: info.modelInfo.label,
    contextTokens: info.contextTokens,
    contextWindow: info.modelInfo.contextWindow,
    costUsd: info.earlierCostUsd + costUsd,
    branch: info.gitBranch,
    changed: {
      added: info.earlierWork.added + lines.added,
      removed: info.earlierWork.removed + lines.removed,
    },
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

/** What this is, and where we are with what of the project is in effect. */
export function bannerOf({
  version,
  modelInfo,
  folder,
  home,
  gitBranch,
  instructions,
  mcpServers,
  skills,
  trusted,
}: ConversationInfo): Banner {
  const names = [...new Set(instructions.map((path) => basename(path)))];
  const counts = [
    ...(mcpServers.length === 0 ? [] : [formatCount(mcpServers.length, 'MCP server')]),
    ...(skills.length === 0 ? [] : [formatCount(skills.length, 'skill')]),
  ];
  const more = names.length > MOST_NAMES ? [`${names.length - MOST_NAMES} more`] : [];
  return {
    version,
    model: modelInfo.label,
    window: formatTokens(modelInfo.contextWindow),
    folder: homePath(folder, home),
    branch: gitBranch,
    effects: [...names.slice(0, MOST_NAMES), ...more, ...counts, trusted ? 'trusted' : 'not trusted'],
  };
}

/** Says which session of this folder was the last one, as long as nothing has been said in this one. */
export async function offerLastSession(
  {
    storedSessions,
    agent,
  }: { readonly agent: Conversation['agent']; readonly storedSessions?: Pick<StoredSessionsPort, 'last'> },
  change: (update: (view: ViewState) => ViewState) => void,
  nowMs: number,
): Promise<void> {
  if (agent.state().messages.length > 0) return;
  const last = await storedSessions?.last();
  if (last === undefined) return;
  const { title, modifiedMs, worked } = last;
  const when = formatAgo(modifiedMs, nowMs);
  change((view) => {
    const isFresh = view.lastPrompt === '' && !isBusy(view) && view.overlay?.kind !== 'sessions';
    return isFresh ? printing(view, { kind: 'last_session', when, title: oneLine(title), worked }) : view;
  });
}
