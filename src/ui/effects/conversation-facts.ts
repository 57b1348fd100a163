import { basename, relative } from 'node:path';
import type { AgentEvent } from '../../contracts/event.ts';
import type { Conversation, ConversationInfo, StoredSessionsPort } from '../../contracts/frontend/conversation.ts';
import { formatHomePath } from '../../lib/files/path-style.ts';
import { omitUndefined } from '../../lib/json.ts';
import { formatAgo, formatCount, formatOneLine, formatTokens } from '../../lib/text/format.ts';
import { addHistoryItems, isBusy, type StatusLineFacts, type ViewState } from '../app-state/view-state.ts';
import type { BannerContent } from '../widgets/history/history-item.ts';

/** Instruction files that the banner names; further ones are counted. */
const MAX_NAMES = 2;

/** Returns the present facts for the status line. */
export function getStatusLineFacts(conversation: Conversation): StatusLineFacts {
  const info = conversation.info();
  const { costUsd, isComplete, lines } = conversation.usage();
  return {
    mode: info.mode,
    ...omitUndefined({ hasAutoMode: info.hasAutoMode, sandbox: info.sandbox }),
    model: info.modelInfo.label,
    contextTokens: info.contextTokens,
    contextWindow: info.modelInfo.contextWindow,
    costUsd: info.earlierCostUsd + costUsd,
    ...(isComplete ? {} : { hasUnknownPrice: true }),
    branch: info.gitBranch,
    changedLines: {
      // An undo may take back more than the edits counted, such as the changes of a command.
      added: Math.max(0, info.earlierWork.added + lines.added),
      removed: Math.max(0, info.earlierWork.removed + lines.removed),
    },
    ...(info.cwd === info.folder ? {} : { shellFolder: relative(info.folder, info.cwd) || info.cwd }),
    backgroundTasks: conversation.background().length,
    isDemo: info.isDemo,
  };
}

/** Returns the present facts for the status line, keeping the output of the status line script. */
export function refreshStatusLineFacts({ scriptOutput }: StatusLineFacts, conversation: Conversation): StatusLineFacts {
  return { ...getStatusLineFacts(conversation), ...(scriptOutput === undefined ? {} : { scriptOutput }) };
}

/** Runs the user's status line script and shows its output when it arrives. */
export function runStatusLineScript(
  { renderStatusLine }: Pick<Conversation, 'renderStatusLine'>,
  updateView: (update: (view: ViewState) => ViewState) => void,
): void {
  void renderStatusLine?.().then((scriptOutput) =>
    updateView((now) => {
      const { scriptOutput: previous, ...facts } = now.facts;
      if (scriptOutput === previous) return now;
      return { ...now, facts: scriptOutput === undefined ? facts : { ...facts, scriptOutput } };
    }),
  );
}

/** Reports whether an event changes the facts of the status line. */
export function changesStatusLineFacts({ type }: AgentEvent): boolean {
  return type === 'turn_start' || type === 'turn_end' || type === 'agent_end' || type === 'mode' || type === 'notice';
}

/** Creates the banner: version, model, folder, and the parts of the project that are in effect. */
export function createBanner({
  version,
  modelInfo,
  folder,
  home,
  gitBranch,
  instructions,
  mcpServers,
  skills,
  trusted,
}: ConversationInfo): BannerContent {
  const names = [...new Set(instructions.map((path) => basename(path)))];
  const counts = [
    ...(mcpServers.length === 0 ? [] : [formatCount(mcpServers.length, 'MCP server')]),
    ...(skills.length === 0 ? [] : [formatCount(skills.length, 'skill')]),
  ];
  const more = names.length > MAX_NAMES ? [`${names.length - MAX_NAMES} more`] : [];
  return {
    version,
    model: modelInfo.label,
    window: formatTokens(modelInfo.contextWindow),
    folder: formatHomePath(folder, home),
    branch: gitBranch,
    configuration: [...names.slice(0, MAX_NAMES), ...more, ...counts, trusted ? 'trusted' : 'not trusted'],
  };
}

/** Shows the last session of this folder, as long as nothing was sent in this one. */
export async function offerLastSession(
  {
    storedSessions,
    agent,
  }: { readonly agent: Conversation['agent']; readonly storedSessions?: Pick<StoredSessionsPort, 'last'> },
  updateView: (update: (view: ViewState) => ViewState) => void,
  nowMs: number,
): Promise<void> {
  if (agent.state().messages.length > 0) return;
  const last = await storedSessions?.last();
  if (last === undefined) return;
  const { title, modifiedMs, worked } = last;
  const when = formatAgo(modifiedMs, nowMs);
  updateView((view) => {
    const isFresh = view.lastPrompt === '' && !isBusy(view) && view.overlay?.kind !== 'sessions';
    return isFresh ? addHistoryItems(view, { kind: 'last_session', when, title: formatOneLine(title), worked }) : view;
  });
}
