import {
  escapeHtml,
  formatCount,
  formatMarkdownTable,
  formatMoney,
  formatTokens,
  sanitize,
} from '@ouro-cli/ouro/commands';

import type { EvalReport, ModelEvalSummary } from './report.ts';
import type { EvalRunRecord } from './run-eval-attempt.ts';

type Table = readonly (readonly string[])[];

/** Formats a report as text: models, tasks, failed calls, and the runs that have not passed. */
export function formatEvalReport(report: EvalReport): string {
  const failures = createFailureTable(report);
  const misses = report.runs.filter(({ outcome }) => outcome !== 'passed');
  const sections = [
    formatTable(createModelTable(report)),
    formatTable(createTaskTable(report)),
    failures.length === 1 ? ['No call failed.'] : formatTable(failures),
    misses.map((run) => sanitizeLine(`${run.outcome}: ${run.task}, ${run.model}, run ${run.attempt}: ${run.reason}`)),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

const sanitizeLine = (text: string): string => sanitize(text, 'line');

/** Formats a table whose cells may come from a model. The padding is added last: it is not part of them. */
const formatTable = (table: Table): readonly string[] =>
  formatMarkdownTable(table.map((cells) => cells.map(sanitizeLine)));

function createModelTable({ models }: EvalReport): Table {
  const header = ['model', 'passed', 'rate', '95 % interval', 'requests', 'input', 'output', 'cached', 'seconds'];
  return [
    [...header, 'cost', 'per run', 'lost turns'],
    ...models.map(({ model, runs, errors, passed, passRate, mean, cacheShare, lostTurns, ...summary }) => [
      ...[model, `${passed}/${runs - errors}`, formatShare(passRate.rate), formatInterval(passRate)],
      ...[mean.requests.toFixed(1), formatTokens(Math.round(mean.inputTokens))],
      ...[formatTokens(Math.round(mean.outputTokens)), formatShare(cacheShare), mean.seconds.toFixed(1)],
      ...[formatEvalCost(summary), formatEvalCost({ ...summary, costUsd: mean.costUsd }), String(lostTurns)],
    ]),
  ];
}

function createTaskTable({ models, runs }: EvalReport): Table {
  const tasks = [...new Set(runs.map(({ task }) => task))];
  return [
    ['task', ...models.map(({ model }) => model)],
    ...tasks.map((task) => [task, ...models.map(({ model }) => formatTaskCell(filterRuns(runs, task, model)))]),
  ];
}

const filterRuns = (runs: readonly EvalRunRecord[], task: string, model: string) =>
  runs.filter((run) => run.task === task && run.model === model);

function formatTaskCell(runs: readonly EvalRunRecord[]): string {
  if (runs.length === 0) return '';
  const passed = runs.filter(({ outcome }) => outcome === 'passed').length;
  const errors = runs.filter(({ outcome }) => outcome === 'error').length;
  return `${passed}/${runs.length - errors}${errors === 0 ? '' : `, ${formatCount(errors, 'error')}`}`;
}

function createFailureTable({ models }: EvalReport): Table {
  const rows = models.flatMap(({ model, failures }) =>
    failures.map(({ tool, cause, count }) => [model, tool, cause, String(count)]),
  );
  return [['model', 'tool', 'cause', 'failed calls'], ...rows];
}

/** Formats a cost; models without a known price are not in it. */
export function formatEvalCost({ costUsd, hasUnknownCost }: Pick<EvalRunRecord, 'costUsd' | 'hasUnknownCost'>): string {
  if (!hasUnknownCost) return formatMoney(costUsd);
  return costUsd === 0 ? 'unknown' : `${formatMoney(costUsd)} and more`;
}

const formatShare = (share: number): string => `${Math.round(share * 100)} %`;

const formatInterval = ({ low, high }: ModelEvalSummary['passRate']): string =>
  `${Math.round(low * 100)}–${Math.round(high * 100)} %`;

const STYLE = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1c; background: #fff }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top; overflow-wrap: anywhere }
.passed { color: #17692e } .failed { color: #a11a1a } .error { color: #8a5a00 }
svg { display: block; width: 100%; height: auto }
.note { color: #666 }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #161616 } th, td { border-color: #333 } .note { color: #999 }
  .passed { color: #6ecf87 } .failed { color: #ff8a80 } .error { color: #f2b450 } svg text { fill: #e6e6e6 }
}`;

/** Formats a report as one HTML page that needs no other file. */
export function formatEvalReportPage(report: EvalReport): string {
  const { ouro, startedAt, models, runs } = report;
  const failures = createFailureTable(report);
  const costUsd = models.reduce((total, model) => total + model.costUsd, 0);
  const cost = formatEvalCost({ costUsd, hasUnknownCost: models.some((model) => model.hasUnknownCost) });
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>ouro eval</title><style>${STYLE}</style></head>
<body><h1>ouro eval</h1>
<p class="note">${escapeHtml(`${formatCount(runs.length, 'run')} with ouro ${ouro}, started ${startedAt}, cost: ${cost}.`)}</p>
<h2>Pass rate with its 95 % confidence interval</h2>
${drawIntervals(models)}
<h2>Models</h2>${renderTable(createModelTable(report))}
<h2>Tasks</h2>${renderTable(createTaskTable(report))}
<h2>Failed calls by tool and cause</h2>${failures.length === 1 ? '<p>No call failed.</p>' : renderTable(failures)}
<h2>Runs</h2>${renderRuns(runs)}
</body></html>
`;
}

const ROW_HEIGHT = 34;
const [CHART_LEFT, CHART_WIDTH] = [240, 520];

/** Draws the interval of each model as a line with a dot at its rate. */
function drawIntervals(models: readonly ModelEvalSummary[]): string {
  const x = (share: number) => (CHART_LEFT + share * CHART_WIDTH).toFixed(1);
  const height = models.length * ROW_HEIGHT + 24;
  const marks = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<line x1="${x(share)}" x2="${x(share)}" y1="0" y2="${height - 20}" stroke="#8884"/><text x="${x(share)}" y="${height - 4}" font-size="12" text-anchor="middle">${formatShare(share)}</text>`,
  );
  const rows = models.map(({ model, passRate: { rate, low, high } }, at) => {
    const y = at * ROW_HEIGHT + ROW_HEIGHT / 2;
    return `<text x="0" y="${y + 4}" font-size="13">${escapeHtml(model)}</text><line x1="${x(low)}" x2="${x(high)}" y1="${y}" y2="${y}" stroke="#4b7bd1" stroke-width="4"/><circle cx="${x(rate)}" cy="${y}" r="6" fill="#4b7bd1"/>`;
  });
  return `<svg viewBox="0 0 ${CHART_LEFT + CHART_WIDTH + 40} ${height}" role="img">${marks.join('')}${rows.join('')}</svg>`;
}

function renderTable([header = [], ...rows]: Table): string {
  const renderRow = (cells: readonly string[], name: 'th' | 'td') =>
    `<tr>${cells.map((cell) => `<${name}>${escapeHtml(cell)}</${name}>`).join('')}</tr>`;
  return `<table>${renderRow(header, 'th')}${rows.map((row) => renderRow(row, 'td')).join('')}</table>`;
}

function renderRuns(runs: readonly EvalRunRecord[]): string {
  const header = ['task', 'model', 'run', 'outcome', 'requests', 'lost turns', 'seconds', 'cost', 'change', 'reason'];
  const rows = runs.map((run) => {
    const { task, model, attempt, outcome, requests, lostTurns, durationMs, change, reason } = run;
    const cells = [task, model, attempt, outcome, requests, lostTurns, (durationMs / 1000).toFixed(1)];
    const rest = [formatEvalCost(run), `${change.files} files, +${change.added} −${change.removed}`, reason];
    return `<tr class="${outcome}">${[...cells, ...rest].map((cell) => `<td>${escapeHtml(String(cell))}</td>`).join('')}</tr>`;
  });
  return `<table><tr>${header.map((name) => `<th>${name}</th>`).join('')}</tr>${rows.join('')}</table>`;
}
