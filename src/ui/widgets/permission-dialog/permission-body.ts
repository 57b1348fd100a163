import type { DiffHunk } from '../../../contracts/display.ts';
import type { JsonObject } from '../../../contracts/json.ts';
import type { CallRisk, PermissionRequest } from '../../../contracts/permission.ts';
import { sanitize } from '../../../lib/text/sanitize.ts';
import {
  colored,
  createProseLine,
  createStyledLine,
  type LogicalLine,
  plain,
  type StyledSpan,
} from '../../text/line.ts';
import { type RenderContext, shortenPath, shortenTitlePaths } from '../../text/render-context.ts';
import { createInputDiff, formatDiffStat, renderDiff } from '../diff/diff-lines.ts';

import { isDueToOutsidePath, isSevereRisk, splitMcpToolName } from './dialog-options.ts';

/** The body of a dialog above its options, from top to bottom. */
export type DialogBody = {
  /** The risk, or the extent of the change. Shown in the title, or below it if it does not fit. */
  readonly headline: readonly StyledSpan[];
  /** Always shown. */
  readonly warnings: readonly LogicalLine[];
  /** Command, diff or input. If it is truncated, the call can only be allowed in the viewer. */
  readonly subject: readonly LogicalLine[];
  /** Indexes of the lines of the subject that name what is at risk. They are truncated last. */
  readonly riskyLines: readonly number[];
  /** Description by the model; dropped first. */
  readonly description: readonly LogicalLine[];
  /** Always shown. */
  readonly risks: readonly LogicalLine[];
  readonly details: readonly LogicalLine[];
};

/** The body of a dialog that shows nothing. */
export const EMPTY_DIALOG_BODY: DialogBody = {
  headline: [],
  warnings: [],
  subject: [],
  riskyLines: [],
  description: [],
  risks: [],
  details: [],
};

/** Formats the title of a permission prompt. */
export function formatPermissionTitle(request: PermissionRequest, { cwd }: RenderContext): string {
  const suffix = request.agentId === undefined ? '' : ' (sub-agent)';
  return `${sanitize(formatTitle(request, cwd), 'line')}${suffix}`;
}

function formatTitle(request: PermissionRequest, cwd: string): string {
  const { facts, toolName } = request;
  switch (facts.kind) {
    case 'shell':
      return request.preview === undefined ? 'Run this command?' : 'Keep what this command changed?';
    case 'edit': {
      const [path, ...others] = facts.writes ?? [];
      if (path === undefined) return 'Make this change?';
      if (others.length > 0) return `Change ${others.length + 1} files?`;
      return isNewFile(request) ? 'Write a new file?' : `Change ${shortenPath(path, cwd)}?`;
    }
    case 'read':
      return facts.searches === undefined ? 'Read this file?' : 'Search this folder?';
    case 'fetch':
      return facts.command === undefined ? 'Fetch this page?' : `Let this command connect to ${request.title}?`;
    case 'mcp': {
      const { server, tool } = splitMcpToolName(facts.tool);
      return tool === '' ? `Use ${toolName}?` : `Let "${server}" use ${tool}?`;
    }
    default:
      return `Use ${toolName}?`;
  }
}

function isNewFile({ preview }: PermissionRequest): boolean {
  return preview?.kind === 'diff' && preview.created;
}

/** Creates the body of a permission dialog: the command, diff or input, its risks and the reasons for asking. */
export function createPermissionBody(
  request: PermissionRequest,
  context: RenderContext,
  details: 'hidden' | 'shown',
): DialogBody {
  const { reasons, trace, risks = [], description = '', concealed } = request;
  const { cwd, glyphs } = context;
  const linkWarnings = request.targets.map(({ path, real }) =>
    createStyledLine(colored('error', sanitize(`${path} resolves to ${real}`, 'line'))),
  );
  const coded = trace.filter(({ reason }) => reason !== undefined);
  const writtenPaths = coded.flatMap(({ reason }) => (reason?.code === 'writes_workspace' ? [reason.path] : []));
  const effects = [
    ...risks.filter((risk) => !isSevereRisk(risk)).map(({ text }) => text),
    ...(request.facts.kind === 'edit' ? [] : writtenPaths.map((path) => `writes ${shortenPath(path, cwd)}`)),
  ];
  const { exact, narrow, suggestions } = request;
  const isUnstored = narrow !== undefined && suggestions.length === 0 && exact?.keep !== 'always';
  const otherReasons = [
    ...reasons.filter((text) => !coded.some((step) => step.text === text)),
    ...(isUnstored ? [`Not remembered beyond this session: ${narrow}.`] : []),
  ];
  return {
    headline: createHeadline(request, context),
    warnings: [
      ...(concealed === 'none' ? [] : [createStyledLine(colored('error', CONCEALED_WARNINGS[concealed]))]),
      ...linkWarnings,
    ],
    subject: createSubject(request, context),
    riskyLines: sanitize(request.facts.command ?? '', 'prompt')
      .split('\n')
      .flatMap((text, index) => (isRiskyLine(text, risks) ? [index] : [])),
    description: description === '' ? [] : [createStyledLine(colored('dim', sanitize(description, 'line')))],
    risks: [
      ...(effects.length === 0
        ? []
        : [createProseLine(colored('dim', sanitize(effects.join(glyphs.separator), 'line')))]),
      ...otherReasons.map((reason) => createProseLine(colored('dim', sanitize(reason, 'line')))),
    ],
    details: details === 'shown' ? createDetailLines(request, context.cwd) : [],
  };
}

const CONCEALED_WARNINGS = {
  hidden_characters: 'Contains invisible or misleading characters.',
  lookalike_letters: 'Contains letters that look like others.',
} as const;

/** Creates the headline: grave risks in amber; for an edit its size, and where it is if not in this project. */
function createHeadline(request: PermissionRequest, { cwd, glyphs }: RenderContext): readonly StyledSpan[] {
  const { facts, preview, trace } = request;
  const [path] = facts.writes ?? [];
  const isOutside = isDueToOutsidePath(trace);
  const isNew = isNewFile(request);
  const name = isNew && path !== undefined ? [[plain(sanitize(shortenPath(path, cwd), 'line'))]] : [];
  const counts = countLines(request, preview);
  const size = isNew ? [colored('add', `+${counts.added}`)] : formatDiffStat(counts, glyphs, 'diff');
  const isChange = facts.kind === 'edit' || preview?.kind === 'diff';
  const stats = isChange && counts.added + counts.removed > 0 ? [size] : [];
  const location = isOutside ? [[colored('warn', 'outside this project')]] : [];
  const grave = describeSevereRisks(request).map((text) => [colored('warn', sanitize(text, 'line'))]);
  return [...name, ...stats, ...location, ...grave].flatMap((spans, index) => [
    ...(index === 0 ? [] : [plain('  ')]),
    ...spans,
  ]);
}

function countLines(request: PermissionRequest, preview: PermissionRequest['preview']) {
  if (preview?.kind === 'diff') return preview;
  const lines = getEditHunks(request).flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter(({ kind }) => kind === 'add').length,
    removed: lines.filter(({ kind }) => kind === 'del').length,
  };
}

/** Describes the grave risks. A secret that is sent or published in the same call is one risk. */
export function describeSevereRisks({ risks = [] }: PermissionRequest): readonly string[] {
  const grave = risks.filter(isSevereRisk);
  const secret = grave.find(({ kind }) => kind === 'reads_secret');
  const sending = grave.find(({ kind }) => kind === 'sends') ?? grave.find(({ kind }) => kind === 'publishes');
  if (secret === undefined || sending === undefined) return grave.map(describeRisk);
  const what = secret.targets === undefined ? 'a secret' : `${secret.targets.join(', ')} (may be a secret)`;
  const to = sending.targets === undefined ? ' to another machine' : ` to ${sending.targets.join(', ')}`;
  const others = grave.filter((risk) => risk !== secret && risk !== sending);
  return [`sends ${what}${to}`, ...others.map(describeRisk)];
}

function describeRisk({ kind, text, targets = [] }: CallRisk): string {
  const isNamed = targets.length === 0 || targets.some((target) => text.includes(target));
  const preposition = kind === 'sends' ? ' to ' : ': ';
  const named = isNamed ? text : `${text}${preposition}${targets.join(', ')}`;
  return kind === 'reads_secret' ? `${named} (may be a secret)` : named;
}

function createSubject(request: PermissionRequest, context: RenderContext): readonly LogicalLine[] {
  const { facts } = request;
  switch (facts.kind) {
    case 'shell': {
      const lines = createCommandLines(facts.command ?? request.title, request.risks);
      const { preview, printed = [] } = request;
      const output = printed.map((text) => createStyledLine(colored('dim', sanitize(text, 'line'))));
      return preview?.kind === 'diff' ? [...lines, ...output, ...renderDiff(preview, context)] : lines;
    }
    case 'edit': {
      const hunks = getEditHunks(request);
      return hunks.length === 0
        ? createInputLines(facts.input)
        : renderDiff({ hunks, path: facts.writes?.[0] }, context);
    }
    case 'fetch':
      return facts.command === undefined
        ? createCommandLines(facts.url ?? request.title)
        : createCommandLines(facts.command, request.risks);
    default: {
      const title = shortenTitlePaths(sanitize(request.title, 'line'), context.cwd);
      // For MCP tools the dialog title already names the tool.
      if (facts.kind === 'mcp') return createInputLines(facts.input);
      const isInTitle = (value: unknown) => typeof value === 'string' && request.title.includes(value);
      const others = Object.entries(facts.input).filter(([, value]) => !isInTitle(value));
      return [createStyledLine(plain(title)), ...createInputLines(Object.fromEntries(others))];
    }
  }
}

/** Returns the hunks of an edit, from its preview or its input. */
export function getEditHunks({ preview, facts }: PermissionRequest): readonly DiffHunk[] {
  return preview?.kind === 'diff' ? preview.hunks : createInputDiff(facts.input);
}

/** A here-document with this many lines is dimmed, except for the lines that name what is at risk. */
const MIN_DIMMED_LINES = 4;

/** Renders a command. The lines of a long here-document are dim, those with a target of a grave risk bold. */
function createCommandLines(command: string, risks: readonly CallRisk[] = []): readonly LogicalLine[] {
  const lines = sanitize(command, 'prompt').split('\n');
  const dimmed = findHeredocLines(lines);
  return lines.map((text, index) => {
    const isDim = dimmed.has(index) && !isRiskyLine(text, risks);
    return createStyledLine(isDim ? colored('dim', text) : { text, style: { bold: true } });
  });
}

/** Returns whether a line of a command names the target of a grave risk. */
function isRiskyLine(text: string, risks: readonly CallRisk[]): boolean {
  const targets = risks.filter(isSevereRisk).flatMap((risk) => risk.targets ?? []);
  return targets.some((target) => text.includes(target.slice(target.lastIndexOf('/') + 1)));
}

/** Returns the indexes of the lines inside long here-documents. */
function findHeredocLines(lines: readonly string[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (let index = 0; index < lines.length; index += 1) {
    const end = /<<-?\s*(['"]?)([\w.-]+)\1/.exec(lines[index] ?? '')?.[2];
    const length = end === undefined ? -1 : lines.slice(index + 1).findIndex((line) => line.trim() === end);
    if (length >= MIN_DIMMED_LINES) for (let line = 1; line <= length; line += 1) found.add(index + line);
    if (length > 0) index += length;
  }
  return found;
}

/** Renders all arguments in full. */
function createInputLines(input: JsonObject): readonly LogicalLine[] {
  return Object.entries(input).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    const [first = '', ...rest] = sanitize(text, 'prompt').split('\n');
    const head: readonly StyledSpan[] = [colored('dim', `${sanitize(name, 'line')}  `), plain(first)];
    return [createStyledLine(...head), ...rest.map((line) => ({ ...createStyledLine(plain(line)), indent: 2 }))];
  });
}

/** Creates the lines that `d` shows: why it asks, and the input as the model wrote it. */
function createDetailLines({ trace, facts }: PermissionRequest, cwd: string): readonly LogicalLine[] {
  const reasons = trace.map(({ text }) => shortenTitlePaths(sanitize(text, 'line'), cwd));
  return [
    ...reasons.map((reason, index) =>
      createProseLine(colored('dim', `${index === 0 ? 'Why it asks: ' : ''}${reason}`)),
    ),
    ...JSON.stringify(facts.input, undefined, 2)
      .split('\n')
      .map((line) => createStyledLine(colored('dim', sanitize(line, 'prompt')))),
  ];
}
