import { existsSync } from 'node:fs';
import { INIT_PROMPT } from '../../prompt/init-prompt.ts';
import { forkSession } from '../../session/stored/store.ts';
import { beforeCompaction } from '../../session/undo-compaction.ts';
import { previewWords } from '../loop/manual-compact.ts';
import { type BuiltinCommand, done, failed, plain, show } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

/** Commands that change something. */
export const CHANGE_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'compact',
    description: 'make room now; the full history stays in the session',
    argumentHint: '[what to keep | preview | undo]',
    async run(args, { agent, loop, session, actions: { compact } }) {
      const words = args.trim();
      const messages = agent.state().messages;
      if (words === 'preview') return show(previewWords(await loop.context.preview(messages)));
      if (agent.state().status !== 'idle') return failed('A reply is being written. Stop it first, or wait.');
      if (words === 'undo') {
        const before = loop.context.undo(messages) ?? (await beforeCompaction(session.transcript.path, messages));
        if (before === undefined) return failed('There is no compaction to undo.');
        await compact.replace(before, 'manual');
        return done('The conversation is as it was before the compaction.');
      }
      return compact.now(words === '' ? undefined : words);
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
    description: 'begin anew; /resume goes back to what was said',
    async run(_args, parts) {
      const { core, agent, hooks, loop, turnLog, actions } = parts;
      if (agent.state().status !== 'idle') return failed('A reply is being written. Stop it first, or wait.');
      const isKept = await keepOld(parts);
      await actions.compact.replace([], 'manual');
      core.live.change({ todos: [], plan: undefined, title: undefined });
      loop.prompt.renew();
      loop.toolset.readState.forgetShown();
      turnLog.expect('The conversation was cleared.');
      const { context } = await hooks.fire('SessionStart', { source: 'clear' }, new AbortController().signal);
      if (context !== undefined) loop.addNews(context);
      return done(`New conversation.${isKept ? ' The old one: /resume' : ''}`);
    },
  },
  {
    name: 'btw',
    description: 'a question on the side that leaves no trace',
    argumentHint: '<question>',
    async run(args, { actions }) {
      if (args.trim() === '') return failed('Ask something: /btw what does LRU mean?');
      const answer = await actions.askAside(args.trim());
      return answer.ok ? show(answer.text.trim()) : failed(`No answer came: ${answer.why}`);
    },
  },
  {
    name: 'doctor',
    description: 'look at everything ouro depends on',
    async run(_args, { core }) {
      const { examine, formatFindings } = await import('../start/doctor.ts');
      const { cwd, environment } = core;
      return plain(formatFindings(await examine({ cwd, isTty: process.stdout.isTTY === true, environment }), 'plain'));
    },
  },
];

/** A conversation that is cleared stays in a session of its own; false where there is nothing to keep, or no place for it. */
async function keepOld({ core, agent, session }: ConversationParts): Promise<boolean> {
  const { path } = session.transcript;
  if (path === undefined || !agent.state().messages.some(({ role }) => role === 'user') || !existsSync(path))
    return false;
  await forkSession({ id: agent.sessionId, path }, core.newId());
  return true;
}
