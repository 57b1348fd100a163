import { renderContextUsage } from '../../context/report/context-usage.ts';
import type { PanelContent, PanelRow } from '../../contracts/frontend/command.ts';
import { formatDuration, formatModelCost, formatMoney, formatTokens } from '../../lib/text/format.ts';
import { describeEarlierCost } from '../../session/session-cost.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import {
  type BuiltinSlashCommand,
  createMarkdownOutcome,
  createPanelOutcome,
  createPlainTextOutcome,
  formatPermissionMode,
} from './builtin-slash-command.ts';

/** Commands that show the status of the conversation. */
export const STATUS_SLASH_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'cost',
    aliases: ['usage'],
    description: 'tokens and cost of this session',
    async run(_args, { core: { meter, model: choice }, session: { transcript } }) {
      const earlier = await describeEarlierCost(transcript, meter.startedAt, choice);
      const report = meter.createReport();
      const rows = report.models.map(({ model, usage, costUsd }) => {
        const money = costUsd === undefined ? 'price unknown' : formatMoney(costUsd);
        return `| ${model} | ${formatTokens(usage.inputTokens)} | ${formatTokens(usage.cacheWriteTokens)} | ${formatTokens(usage.cacheReadTokens)} | ${formatTokens(usage.outputTokens)} | ${money} |`;
      });
      if (rows.length === 0) return createMarkdownOutcome(earlier ?? 'No requests yet.');
      const total = formatModelCost(report.costUsd, report);
      const table = [
        '| model | input | cache write | cache read | output | cost |',
        '|---|---|---|---|---|---|',
        ...rows,
      ].join('\n');
      const summary = [`Total ${total}; ${formatDuration(report.apiMs)} waiting for models.`, earlier ?? []].flat();
      return createMarkdownOutcome([table, ...summary].join('\n\n'));
    },
  },
  {
    name: 'cache',
    description: 'prompt cache use by request',
    run: async (_args, { turnLog }) => createMarkdownOutcome(turnLog.renderCache()),
  },
  {
    name: 'timeline',
    description: 'turns with their tokens, cost, time and retries',
    run: async (_args, { turnLog }) => createMarkdownOutcome(turnLog.renderTimeline()),
  },

  {
    name: 'status',
    description: 'show session, model, mode, folder and key',
    async run(_args, parts) {
      const { agent, core } = parts;
      const { transcript } = parts.session;
      const { model, mode, effort, cwd } = core.live.current();
      const lines = [
        `session: ${agent.sessionId}`,
        `${transcript.path === undefined ? 'not saved' : `saved in: ${transcript.path}`}${transcript.countPending() > 0 ? `, ${transcript.countPending()} lines not written yet` : ''}`,
        `model: ${model}, effort ${effort}`,
        `mode: ${formatPermissionMode(mode)}`,
        `folder: ${cwd} (${core.trusted ? 'trusted' : 'not trusted'})`,
        `key: ${core.model.keySource}`,
      ];
      return createMarkdownOutcome(lines.map((line) => `- ${line}`).join('\n'));
    },
  },
  {
    name: 'doctor',
    description: 'check the installation and its dependencies',
    async run(_args, { core }) {
      const { runDoctorChecks, formatDoctorFindings } = await import('../setup/doctor.ts');
      const { cwd, environment } = core;
      return createPlainTextOutcome(
        formatDoctorFindings(
          await runDoctorChecks({ cwd, isTty: process.stdout.isTTY === true, environment }),
          'plain',
        ),
      );
    },
  },
];

/** Commands that list the use of the context window. */
export const CONTEXT_SLASH_COMMANDS: readonly BuiltinSlashCommand[] = [
  {
    name: 'context',
    description: 'show the use of the context window',
    run: (_args, parts) => createContextPanel(parts),
  },
];

/** Share of the window from which a part is listed. */
const MIN_LISTED_SHARE = 0.01;

async function createContextPanel({ actions }: ConversationParts) {
  const usage = await actions.contextUsage();
  const { model, totalTokens, maxTokens, categories, biggest } = usage;
  const share = (tokens: number) => (maxTokens === 0 ? 0 : tokens / maxTokens);
  // Smaller parts are noise; the text form lists them all.
  const isListed = ({ tokens }: { readonly tokens: number }) => share(tokens) >= MIN_LISTED_SHARE;
  const createRow = (
    group: string,
    { name, tokens }: { readonly name: string; readonly tokens: number },
  ): PanelRow => ({
    id: `${group} ${name}`,
    group,
    cells: [name, formatTokens(tokens), maxTokens === 0 ? '' : `${((100 * tokens) / maxTokens).toFixed(1)} %`],
    detail: [],
    actions: [],
  });
  const panel: PanelContent = {
    title: 'Context',
    command: 'context',
    note: `${model}: ${formatTokens(totalTokens)} of ${formatTokens(maxTokens)} tokens`,
    rows: [
      { ...createRow('Context window', { name: 'Used', tokens: totalTokens }), share: share(totalTokens) },
      ...categories.filter(isListed).map((category) => createRow('Context window', category)),
      ...biggest.filter(isListed).map((item) => createRow('Largest', item)),
    ],
    empty: 'No requests yet.',
    actions: [
      {
        kind: 'run',
        key: 'ctrl+r',
        label: 'compacts',
        command: 'compact',
        closesPanel: true,
        confirmLabel: 'compacts the conversation',
      },
    ],
  };
  return createPanelOutcome(panel, renderContextUsage(usage));
}
