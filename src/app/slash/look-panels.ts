import { renderContextUsage } from '../../context/report/usage-lines.ts';
import type { PanelRow } from '../../contracts/face/panel.ts';
import { actionOf, type Hook, type HookResult } from '../../contracts/hook.ts';
import { formatDuration, formatTokens } from '../../lib/text/format.ts';
import { asPanel, type BuiltinCommand, failed, plain } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

/** Lists of what is in effect here. */
export const LOOK_PANELS: readonly BuiltinCommand[] = [
  { name: 'context', description: 'where the tokens of the window go', run: (_args, parts) => contextPanel(parts) },
  {
    name: 'hooks',
    description: 'hooks with their source and last result',
    argumentHint: '[number]',
    async run(args, { hooks }) {
      const all = hooks.list();
      const wanted = all[Number.parseInt(args, 10) - 1];
      if (args.trim() !== '') return wanted === undefined ? failed('There is no such hook.') : plain(hookText(wanted));
      return asPanel({
        title: 'Hooks',
        line: 'hooks',
        rows: all.map(hookRow),
        empty: 'No hooks are configured. They stand under "hooks" in a settings file.',
        acts: [],
      });
    },
  },
];

async function contextPanel({ actions }: ConversationParts) {
  const usage = await actions.contextUsage();
  const { model, totalTokens, maxTokens, categories, biggest } = usage;
  const row = (group: string, { name, tokens }: { readonly name: string; readonly tokens: number }): PanelRow => ({
    id: `${group} ${name}`,
    group,
    cells: [name, formatTokens(tokens), maxTokens === 0 ? '' : `${((100 * tokens) / maxTokens).toFixed(1)} %`],
    share: maxTokens === 0 ? 0 : tokens / maxTokens,
    detail: [],
    acts: [],
  });
  const panel = {
    title: 'Context',
    line: 'context',
    note: `${model}: ${formatTokens(totalTokens)} of ${formatTokens(maxTokens)} tokens`,
    rows: [...categories.map((one) => row('The window', one)), ...biggest.map((one) => row('Biggest', one))],
    empty: 'Nothing was sent yet.',
    acts: [
      { kind: 'run', key: 'ctrl+r', label: 'makes room (/compact)', line: 'compact', closes: true, sure: 'makes room' },
    ],
  } as const;
  return asPanel(panel, renderContextUsage(usage));
}

type Listed = { readonly hook: Hook; readonly last: HookResult | undefined };

function hookRow({ hook, last }: Listed, at: number): PanelRow {
  const { event, matcher, file, line, source } = hook;
  const place = `${file ?? source}${line === undefined ? '' : `:${line}`}`;
  const mark = last === undefined ? undefined : last.outcome === 'passed' ? 'good' : 'bad';
  return {
    id: String(at + 1),
    cells: [event, matcher ?? '', actionOf(hook), lastWords(last)],
    ...(mark === undefined ? {} : { mark }),
    detail: [actionOf(hook), `from ${place}; ${lastWords(last)}`],
    acts: [{ kind: 'run', key: 'enter', label: 'all of it', line: `hooks ${at + 1}` }],
  };
}

function lastWords(last: HookResult | undefined): string {
  return last === undefined ? 'has not run' : `${last.outcome} in ${formatDuration(last.durationMs)}`;
}

function hookText({ hook, last }: Listed): string {
  const { event, matcher, file, line, source, if: condition, timeout } = hook;
  const facts = [
    ['event', event],
    ['tools', matcher],
    ['only if', condition],
    ['runs', actionOf(hook)],
    ['stands in', `${file ?? source}${line === undefined ? '' : `:${line}`}`],
    ['timeout', timeout === undefined ? undefined : `${timeout}s`],
    ['last time', lastWords(last)],
    ['it said', last?.words],
  ];
  return facts
    .filter(([, words]) => words !== undefined && words !== '')
    .map(([name, words]) => `${name?.padEnd(10)} ${words}`)
    .join('\n');
}
