import { EFFORTS, type Effort } from '../../contracts/model.ts';
import { effortsOf } from '../../model/efforts.ts';
import { INIT_PROMPT } from '../../prompt/init-prompt.ts';
import { beforeCompaction } from '../../session/undo-compaction.ts';
import { previewWords } from '../loop/manual-compact.ts';
import { type BuiltinCommand, done, failed, plain, show } from './builtin-command.ts';

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
    name: 'model',
    description: 'the model for the next turns',
    argumentHint: '[name]',
    async run(args, { core: { live }, actions }) {
      if (args.trim() === '') return { kind: 'open', view: 'model', argument: '' };
      const answer = await actions.setModel(args.trim());
      return answer.ok ? done(`From the next turn on: ${live.now().model}.`) : failed(answer.why);
    },
  },
  {
    name: 'effort',
    description: 'how hard the model should think',
    argumentHint: EFFORTS.join('|'),
    async run(args, { core: { live, model }, actions }) {
      const info = model.infoOf(live.now().model);
      const named = (effort: Effort) =>
        effort === 'auto' && info.ownEffort !== undefined ? `auto (${info.ownEffort}, as the model has it)` : effort;
      const effort = EFFORTS.find((known) => known === args.trim());
      if (effort === undefined)
        return failed(`The effort is ${named(live.now().effort)}. Choose one of ${effortsOf(info).join(', ')}.`);
      const answer = actions.setEffort(effort);
      return answer.ok ? done(`Effort: ${named(effort)}.`) : failed(answer.why);
    },
  },
  {
    name: 'init',
    description: 'write a CLAUDE.md for this project',
    run: async () => ({ kind: 'prompt', blocks: [{ type: 'text', text: INIT_PROMPT }] }),
  },
  {
    name: 'clear',
    description: 'begin anew; the session keeps what was said',
    async run(_args, { agent, hooks, loop, turnLog, actions }) {
      if (agent.state().status !== 'idle') return failed('A reply is being written. Stop it first, or wait.');
      await actions.compact.replace([], 'manual');
      loop.prompt.renew();
      loop.toolset.readState.forgetShown();
      turnLog.expect('The conversation was cleared.');
      const { context } = await hooks.fire('SessionStart', { source: 'clear' }, new AbortController().signal);
      if (context !== undefined) loop.addNews(context);
      return { kind: 'open', view: 'clear', argument: '' };
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
