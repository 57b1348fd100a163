import { renderContextUsage } from '../../context/report/usage-lines.ts';
import { formatDuration, formatMoney, formatTokens } from '../../lib/text/format.ts';
import { explain } from '../../settings/merge.ts';
import { costBefore } from '../session/cost-before.ts';
import { type BuiltinCommand, done, failed, plain, show } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';
import { pinWords } from './pin-words.ts';

/** Commands that only show something. */
export const LOOK_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'context',
    description: 'where the tokens of the window go',
    run: async (_args, parts) => plain(renderContextUsage(await parts.actions.contextUsage())),
  },
  {
    name: 'cost',
    description: 'tokens and money of this session',
    async run(_args, { core: { meter }, session: { transcript } }) {
      const before = await costBefore(transcript, meter.since);
      const report = meter.report();
      const rows = report.models.map(({ model, usage, costUsd }) => {
        const money = costUsd === undefined ? 'price unknown' : formatMoney(costUsd);
        return `| ${model} | ${formatTokens(usage.inputTokens)} | ${formatTokens(usage.cacheWriteTokens)} | ${formatTokens(usage.cacheReadTokens)} | ${formatTokens(usage.outputTokens)} | ${money} |`;
      });
      if (rows.length === 0) return show(before ?? 'Nothing has been asked yet.');
      const total = `${formatMoney(report.costUsd)}${report.isComplete ? '' : ' and what has no known price'}`;
      const table = [
        '| model | input | cache write | cache read | output | cost |',
        '|---|---|---|---|---|---|',
        ...rows,
      ].join('\n');
      const words = [`Together ${total}; ${formatDuration(report.apiMs)} of waiting for models.`, before ?? []].flat();
      return show([table, ...words].join('\n\n'));
    },
  },
  {
    name: 'cache',
    description: 'how well the prompt cache serves, request by request',
    run: async (_args, { turnLog }) => show(turnLog.renderCache()),
  },
  {
    name: 'timeline',
    description: 'each turn with its tokens, cost, time and retries',
    run: async (_args, { turnLog }) => show(turnLog.renderTimeline()),
  },
  {
    name: 'memory',
    description: 'the instruction files that are read here; with words, keeps them for good',
    argumentHint: '[user:|local:] [words to keep]',
    async run(args, parts) {
      const { loop } = parts;
      if (args.trim() !== '') return pinWords(args, parts);
      await loop.ready();
      const { files, problems } = loop.prompt.memory.report();
      const lines = files.map((file) =>
        file.leftOut === undefined
          ? `- ${file.path} (${file.scope}, ${file.chars} characters${file.state === 'waiting' ? `, waits for ${file.paths?.join(', ') ?? 'its folder'}` : ''})`
          : `- ${file.path} (${file.scope}) is left out: ${file.leftOut}`,
      );
      const listed = problems.map((problem) => `- ${problem}`);
      if (lines.length === 0 && listed.length === 0)
        return show('No instruction files here. `/init` writes a first one.');
      return show([...lines, ...(listed.length === 0 ? [] : ['', 'Problems:', ...listed])].join('\n'));
    },
  },
  {
    name: 'config',
    description: 'settings with the place each value comes from',
    argumentHint: '[key]',
    async run(args, { core: { settings } }) {
      const values = explain(settings.loaded().layers, args.trim() === '' ? undefined : args.trim());
      if (values.length === 0)
        return show(args.trim() === '' ? 'Nothing is set; defaults everywhere.' : `\`${args.trim()}\` is not set.`);
      return show(
        values
          .map(
            ({ key, value, source, file, line }) =>
              `- \`${key}\` = \`${JSON.stringify(value)}\` (${source}, ${file}${line === undefined ? '' : `:${line}`})`,
          )
          .join('\n'),
      );
    },
  },
  {
    name: 'hooks',
    description: 'hooks with their source and last result',
    async run(_args, { hooks }) {
      const lines = hooks.list().map(({ hook, last }) => {
        const what = hook.command ?? hook.url ?? 'in the host';
        const result =
          last === undefined
            ? 'has not run'
            : `${last.outcome} in ${formatDuration(last.durationMs)}${last.words === '' ? '' : `: ${last.words}`}`;
        return `- ${hook.event}${hook.matcher === undefined ? '' : ` (${hook.matcher})`}: \`${what}\` from ${hook.file ?? hook.source}${hook.line === undefined ? '' : `:${hook.line}`}; ${result}`;
      });
      return show(lines.length === 0 ? 'No hooks are configured.' : lines.join('\n'));
    },
  },
  {
    name: 'agents',
    description: 'kinds of sub-agents',
    run: async (_args, { core: { extensions } }) =>
      show(
        extensions
          .now()
          .agents.map(({ name, description, source }) => `- **${name}** (${source}): ${description}`)
          .join('\n'),
      ),
  },
  {
    name: 'skills',
    description: 'skills that can be loaded',
    async run(_args, { core: { extensions } }) {
      const lines = extensions
        .now()
        .skills.map(({ name, description, path }) => `- **${name}**: ${description} (${path})`);
      return show(
        lines.length === 0 ? 'No skills here. They live in .claude/skills/<name>/SKILL.md.' : lines.join('\n'),
      );
    },
  },
  {
    name: 'status',
    description: 'session, model, mode, folder, key',
    async run(_args, parts) {
      const { agent, core } = parts;
      const { transcript } = parts.session;
      const { model, mode, effort, cwd } = core.live.now();
      const lines = [
        `session ${agent.sessionId}`,
        `saved in ${transcript.path ?? 'nowhere (not persisted)'}${transcript.waiting() > 0 ? `, ${transcript.waiting()} lines not written yet` : ''}`,
        `model ${model}, effort ${effort}`,
        `mode ${mode}`,
        `folder ${cwd} (${core.trusted ? 'trusted' : 'not trusted'})`,
        `key ${core.model.keySource}`,
      ];
      return show(lines.map((line) => `- ${line}`).join('\n'));
    },
  },
  {
    name: 'ps',
    argumentHint: '[stop <id>]',
    description: 'what runs in the background; stop ends one of it',
    async run(args, parts) {
      const [verb, id = '', more] = args.trim().split(/\s+/);
      if (verb === 'stop' && more === undefined) return stopOne(parts, id);
      if (verb !== '') return failed('/ps lists what runs in the background, /ps stop <id> ends one of it.');
      const shells = parts.shells
        .list()
        .map(
          ({ id, command, exit, startedAtMs }) =>
            `- ${id} \`${command}\` ${exit === undefined ? `running for ${formatDuration(Date.now() - startedAtMs)}` : 'ended'}`,
        );
      const agents = parts.loop.subAgents
        .running()
        .map(({ id, title, startedAtMs }) => `- agent ${id} ${title}, ${formatDuration(Date.now() - startedAtMs)}`);
      const lines = [...shells, ...agents];
      return show(lines.length === 0 ? 'Nothing runs in the background.' : lines.join('\n'));
    },
  },
];

async function stopOne({ shells, loop }: ConversationParts, id: string) {
  const shell = shells.find(id);
  if (shell?.exit !== undefined && !shell.shell.leftSomething()) return done(`${id} had already ended.`);
  if (shell === undefined && !loop.subAgents.stop(id))
    return failed(`There is no ${id || 'such thing'} in the background.`);
  await shell?.shell.stop();
  return done(`Ended ${id}.`);
}
