import { formatDuration, formatMoney, formatTokens } from '../../lib/text/format.ts';
import { costBefore } from '../session/cost-before.ts';
import { type BuiltinCommand, show } from './builtin-command.ts';

/** Commands that only show something. */
export const LOOK_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'cost',
    aliases: ['usage'],
    description: 'tokens and money of this session',
    async run(_args, { core: { meter, model: choice }, session: { transcript } }) {
      const before = await costBefore(transcript, meter.since, choice);
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
];
