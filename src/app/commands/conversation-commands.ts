import { rebuildBeforeCompaction } from '../../session/records/rebuild-session.ts';
import { forkSession } from '../../session/store/fork-session.ts';
import { isSessionStored } from '../../session/unsaved-lines.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import { formatCompactPreview } from '../loop/context-pipeline.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createMarkdownOutcome,
  createSuccessOutcome,
} from './builtin-slash-command.ts';

/** The commands that change the conversation. */
export const CONVERSATION_SLASH_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'compact',
    description: 'compact the conversation; the full history stays in the session',
    argumentHint: '[what to keep | preview | undo]',
    async run(args, { agent, loop, session, actions: { compact } }) {
      const argument = args.trim();
      const messages = agent.state().messages;
      if (argument === 'preview')
        return createMarkdownOutcome(formatCompactPreview(await loop.context.preview(messages)));
      if (agent.state().status !== 'idle') return createErrorOutcome('A reply is in progress. Stop it first, or wait.');
      if (argument === 'undo') {
        const before =
          loop.context.undo(messages) ?? (await rebuildBeforeCompaction(session.transcript.path, messages));
        if (before === undefined) return createErrorOutcome('There is no compaction to undo.');
        await compact.replace(before, 'manual');
        return createSuccessOutcome('Compaction undone.');
      }
      return compact.compactNow(argument === '' ? undefined : argument);
    },
  },
  {
    name: 'init',
    description: 'write a CLAUDE.md for this project',
    run: async () => ({ kind: 'prompt', blocks: [{ type: 'text', text: INIT_PROMPT }] }),
  },
  {
    name: 'clear',
    aliases: ['new', 'reset'],
    description: 'start a new conversation; /resume reopens the old one',
    async run(_args, parts) {
      const { core, agent, hooks, loop, turnLog, actions } = parts;
      if (agent.state().status !== 'idle') return createErrorOutcome('A reply is in progress. Stop it first, or wait.');
      const isStored = await storeOldConversation(parts);
      await actions.compact.replace([], 'manual');
      core.live.update({ todos: [], plan: undefined, title: undefined });
      loop.prompt.restart();
      turnLog.expectCacheMiss('The conversation was cleared.');
      const { context } = await hooks.fire('SessionStart', { source: 'clear' }, new AbortController().signal);
      if (context !== undefined) core.inbox.add(context);
      return createSuccessOutcome(`New conversation started.${isStored ? ' /resume reopens the old one.' : ''}`);
    },
  },
  {
    name: 'btw',
    description: 'ask a side question that is not added to the conversation',
    argumentHint: '<question>',
    async run(args, { actions }) {
      if (args.trim() === '') return createErrorOutcome('Usage: /btw <question>');
      const answer = await actions.askSideQuestion(args.trim());
      return answer.ok ? createMarkdownOutcome(answer.text.trim()) : createErrorOutcome(`No answer: ${answer.why}`);
    },
  },
];

/** Stores the old conversation as a session of its own. Returns false if it is empty or the session is not stored. */
async function storeOldConversation({ core, agent, session }: ConversationParts): Promise<boolean> {
  const { path } = session.transcript;
  if (path === undefined || !agent.state().messages.some(({ role }) => role === 'user') || !isSessionStored(path))
    return false;
  await forkSession({ id: agent.sessionId, path }, core.newId(), core.environment.ouroHome);
  return true;
}

/** The prompt of `/init`, with which the model writes or improves the project's memory file. */
const INIT_PROMPT = `Please write this project's CLAUDE.md: the one page somebody needs before their first change here. When a CLAUDE.md or AGENTS.md exists, mend that one instead: what is true stays, what is wrong goes.

1. Look around without changing anything: manifests, scripts, CI, test and lint settings, the README, and notes other assistants were given. Follow one typical call through the code from entry to result.
2. Write down only what you saw, in three short sections:
   - **Run it**: the exact commands for setup, start, checks and tests, the narrowest test run included.
   - **Find your way**: which part answers for what, which parts may use which, where a new thing of each kind goes.
   - **Mind this**: habits and traps that the code shows but a newcomer would get wrong.
3. Throw out whatever a competent reader would assume anyway, listings of files, and guesses. Eighty lines are plenty.

Close with two sentences: what the page covers, and what you could not find out.`;
