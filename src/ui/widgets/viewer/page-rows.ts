import { stripVTControlCharacters } from 'node:util';
import type { DiffHunk, ScriptStart } from '../../../contracts/display.ts';
import { isJsonObject, type JsonValue } from '../../../contracts/json.ts';
import {
  type AssistantBlock,
  formatResultText,
  type ToolResultBlock,
  type ToolUseBlock,
  type UserMessage,
} from '../../../contracts/message.ts';
import type { PermissionRequest } from '../../../contracts/permission.ts';
import { formatClock, formatCount, formatTokens } from '../../../lib/text/format.ts';
import { escapeCodeLine, sanitize, sanitizeForScreen } from '../../../lib/text/sanitize.ts';
import { getUserMessageText } from '../../app-state/message-text.ts';
import { colored, createStyledLine, type LogicalLine, plain, type StyledSpan } from '../../text/line.ts';
import { type RenderContext, shortenPath } from '../../text/render-context.ts';
import { renderLines } from '../../text/render-lines.ts';
import type { Paint } from '../../theme/paint.ts';
import { createInputDiff, formatHunk, renderDiff } from '../diff/diff-lines.ts';

import { renderSideBySide } from '../diff/side-by-side.ts';
import { appendTime, renderMarkdown } from '../history/history-lines.ts';
import { createPermissionBody, getEditHunks } from '../permission-dialog/permission-body.ts';
import { createToolTitle, getCommandLines, getInputTitle, type ToolTitleParts } from '../tool-calls/tool-entry.ts';
import { renderToolOutput } from '../tool-calls/tool-output.ts';
import type { HunkDecision, ReviewPage } from './review.ts';
import type { ViewerPage, ViewerPageOptions, ViewerRow } from './viewer-state.ts';

/** Renders a page as rows for the current width. */
export function renderPageRows(
  page: ViewerPage,
  options: ViewerPageOptions,
  context: RenderContext,
  paint: Paint,
): readonly ViewerRow[] {
  return createEntries(page, options, context).flatMap(({ lines, copyText, mark, call }) =>
    lines.flatMap((line, index) =>
      renderLines([line], { width: context.width, paint, zone: 'live', links: 'printed' }).map(
        (painted, row): ViewerRow => ({
          painted,
          text: stripVTControlCharacters(painted),
          mark: index === 0 && row === 0 ? mark : 'inside',
          copyText,
          ...(call === undefined ? {} : { call }),
        }),
      ),
    ),
  );
}

function createEntries(page: ViewerPage, options: ViewerPageOptions, context: RenderContext): readonly PageEntry[] {
  if (page.kind === 'transcript') return renderTranscript(page, options, context);
  if (page.kind === 'text')
    return [{ lines: renderMarkdown(page.markdown, context), copyText: page.markdown, mark: 'start' }];
  if (page.kind === 'review') return renderReview(page, context);
  return createRequestEntries(page.request, context);
}

/** Renders a full permission request: warnings and risks, then the call itself. */
function createRequestEntries(request: PermissionRequest, context: RenderContext): readonly PageEntry[] {
  const { headline, warnings, subject, description, risks } = createPermissionBody(request, context, 'hidden');
  const head = headline.length === 0 ? [] : [createStyledLine(...headline)];
  const createEntry = (lines: readonly LogicalLine[], copyText: string): readonly PageEntry[] =>
    lines.length === 0 ? [] : [{ lines: [...lines, createStyledLine()], copyText, mark: 'start' }];
  const hunks = request.facts.kind === 'edit' ? getEditHunks(request) : [];
  const hunkEntries = hunks.flatMap((hunk) => {
    return createEntry(renderDiff({ hunks: [hunk], path: request.facts.writes?.[0] }, context), formatHunk(hunk));
  });
  const callEntries =
    hunkEntries.length > 0 ? hunkEntries : createEntry(subject, request.facts.command ?? request.title);
  const scriptEntries = (request.scripts ?? []).flatMap((script) =>
    createEntry(renderScriptStart(script, context), script.lines.join('\n')),
  );
  return [...createEntry([...head, ...warnings, ...risks, ...description], ''), ...callEntries, ...scriptEntries];
}

function renderScriptStart(
  { path, entry, lines, moreLines }: ScriptStart,
  { cwd }: RenderContext,
): readonly LogicalLine[] {
  const name = entry === undefined ? shortenPath(path, cwd) : `"${entry}" of ${shortenPath(path, cwd)}`;
  const rest = moreLines === 0 ? [] : [createStyledLine(colored('dim', `… ${formatCount(moreLines, 'more line')}`))];
  return [
    createStyledLine(colored('dim', sanitize(`${name} ${entry === undefined ? 'begins with' : 'is'}:`, 'line'))),
    ...lines.map((line) => createStyledLine(colored('code', escapeCodeLine(line)))),
    ...rest,
  ];
}

/** Minimum width for showing old and new lines side by side. */
const MIN_SIDE_BY_SIDE_COLUMNS = 120;

/** Renders a review page: each hunk below a line with its decision. */
function renderReview(page: ReviewPage, context: RenderContext): readonly PageEntry[] {
  return page.hunks.map((hunk, index): PageEntry => {
    const lines =
      context.width >= MIN_SIDE_BY_SIDE_COLUMNS
        ? renderSideBySide(hunk, page.path, context)
        : renderDiff({ hunks: [hunk], path: page.path }, context);
    return {
      lines: [createHeadLine(page, hunk, index, context), ...lines, createStyledLine()],
      copyText: formatHunk(hunk),
      mark: 'start',
    };
  });
}

function createHeadLine(
  page: ReviewPage,
  { newStart, newLines }: DiffHunk,
  index: number,
  { glyphs }: RenderContext,
): LogicalLine {
  const isSelected = index === page.selected;
  const lineRange = newLines <= 1 ? `line ${newStart}` : `lines ${newStart}-${newStart + newLines - 1}`;
  const text = `part ${index + 1} of ${page.hunks.length}, ${lineRange}`;
  const name: StyledSpan = isSelected
    ? { text: `> ${text} `, style: { token: 'select' } }
    : colored('accent', `  ${text} `);
  return createStyledLine(name, ...createDecisionSpans(page.decisions[index], glyphs));
}

function createDecisionSpans(
  mark: HunkDecision | undefined,
  { done, failed }: RenderContext['glyphs'],
): readonly StyledSpan[] {
  if (mark === undefined || mark.verdict === 'open') return [];
  if (mark.verdict === 'yes') return [colored('ok', `  ${done} yes`)];
  const reason = mark.reason === '' ? [] : [plain(`: ${sanitizeForScreen(mark.reason)}`)];
  return [colored('error', `  ${failed} no`), ...reason];
}

/** One entry of a page: its lines, and the text that is copied from it. */
type PageEntry = {
  readonly lines: readonly LogicalLine[];
  readonly copyText: string;
  readonly mark: 'start' | 'inside';
  readonly call?: string;
};

type Transcript = Pick<Extract<ViewerPage, { kind: 'transcript' }>, 'messages' | 'getTitle'>;

const MAX_COLLAPSED_LINES = 3;
/** Hiding this many lines or fewer would save hardly anything. */
const MAX_UNHIDDEN_LINES = 3;

/** Renders a transcript in order: prompts start turns, results follow their calls. */
function renderTranscript(
  { messages, getTitle = () => '' }: Transcript,
  options: ViewerPageOptions,
  context: RenderContext,
): readonly PageEntry[] {
  const results = new Map<string, ToolResultBlock>();
  for (const message of messages) {
    if (message.role !== 'user') continue;
    for (const block of message.blocks) if (block.type === 'tool_result') results.set(block.tool_use_id, block);
  }
  return messages.flatMap((message): readonly PageEntry[] => {
    switch (message.role) {
      case 'boundary':
        return [
          createEntry(
            '',
            createStyledLine(colored('dim', `Compacted here at ${formatTokens(message.preTokens)} tokens.`)),
          ),
        ];
      case 'custom':
        return [];
      case 'user':
        return createUserEntries(message, context);
      default:
        return message.blocks.flatMap((block) =>
          createAssistantEntries(block, message.at, { results, getTitle }, options, context),
        );
    }
  });
}

function createUserEntries(
  { origin, blocks, command, at: sentAt }: UserMessage,
  { glyphs }: RenderContext,
): readonly PageEntry[] {
  if (origin === 'results' || origin === 'attachment') return [];
  const text = getUserMessageText(blocks);
  if (text.trim() === '') return [];
  const isTyped = origin === 'prompt' || origin === 'steer' || origin === 'follow_up';
  const rows = sanitizeForScreen(command === undefined ? text : `${command}\n${text}`).split('\n');
  const lines = rows.map((line, row) =>
    createStyledLine(
      colored(
        isTyped && (command === undefined || row === 0) ? 'user' : 'dim',
        `${row === 0 ? (isTyped ? glyphs.user : '#') : ' '} ${line}`.trimEnd(),
      ),
    ),
  );
  return [
    { lines: [createStyledLine(), ...appendTime(lines, sentAt)], copyText: text, mark: isTyped ? 'start' : 'inside' },
  ];
}

type Calls = {
  readonly results: ReadonlyMap<string, ToolResultBlock>;
  readonly getTitle: NonNullable<Transcript['getTitle']>;
};

function createAssistantEntries(
  block: AssistantBlock,
  sentAt: string | undefined,
  { results, getTitle }: Calls,
  options: ViewerPageOptions,
  context: RenderContext,
): readonly PageEntry[] {
  switch (block.type) {
    case 'text':
      return [
        createEntry(
          block.text,
          createStyledLine(colored('dim', formatClock(sentAt))),
          ...renderMarkdown(block.text, context),
          ...createCutNote(block),
        ),
      ];
    case 'thinking': {
      if (options.thinking === 'hidden' || block.thinking.trim() === '') return [];
      const lines = sanitizeForScreen(block.thinking).split('\n');
      return [
        createEntry(block.thinking, createStyledLine(), ...lines.map((line) => createStyledLine(colored('dim', line)))),
      ];
    }
    case 'tool_use': {
      const { id, input } = block;
      const result = results.get(id);
      const call = describeCall(block, getTitle);
      const head = createStyledLine(
        result?.is_error === true ? colored('error', context.glyphs.failed) : colored('ok', context.glyphs.done),
        plain(' '),
        ...createToolTitle(call, context.cwd),
      );
      const script = renderToolOutput(getCommandLines(call).slice(1), context.glyphs.output);
      const text = result === undefined ? '' : formatResultText(result);
      const body = createOutputLines(text, options.expandedCall === id ? 'open' : options.outputs, context);
      const copyText = text === '' ? (block.unparsed ?? JSON.stringify(input)) : text;
      const isFailed = result?.is_error === true;
      const diff = isFailed ? [] : createDiffLines(input, context);
      return [
        {
          ...createEntry(copyText, createStyledLine(), ...appendTime([head], sentAt), ...script, ...diff, ...body),
          call: id,
        },
      ];
    }
    default:
      return [];
  }
}

/** Renders the change of an edit from its input. The numbers of its lines are not stored. */
function createDiffLines(input: JsonValue, context: RenderContext): readonly LogicalLine[] {
  if (!isJsonObject(input) || typeof input.file_path !== 'string') return [];
  return renderDiff({ hunks: createInputDiff(input), path: input.file_path }, context);
}

/** Returns the properties for the title of a call. Input that could not be parsed is shown unchanged. */
function describeCall({ id, name, input, unparsed }: ToolUseBlock, getTitle: Calls['getTitle']): ToolTitleParts {
  const knownTitle = unparsed === undefined ? getTitle(name, input) : '';
  const title = knownTitle === '' ? `${name} ${unparsed ?? getInputTitle(input)}`.trim() : knownTitle;
  return { callId: id, tool: name, title, input, caller: 'model' };
}

function createCutNote({ cut }: { readonly cut?: boolean }): readonly LogicalLine[] {
  return cut === true ? [createStyledLine(colored('warn', '… the reply was cut off here'))] : [];
}

function createOutputLines(
  text: string,
  bodies: ViewerPageOptions['outputs'],
  { glyphs }: RenderContext,
): readonly LogicalLine[] {
  const rows = sanitizeForScreen(text)
    .replace(/(?<!\n)\n+$/, '')
    .split('\n');
  if (rows.length === 1 && rows[0] === '') return [];
  if (bodies === 'open' || rows.length <= MAX_COLLAPSED_LINES + MAX_UNHIDDEN_LINES)
    return renderToolOutput(rows, glyphs.output);
  const hiddenNote = createStyledLine(
    colored('dim', `${glyphs.output} ${glyphs.ellipsis} ${rows.length - MAX_COLLAPSED_LINES} more lines (o)`),
  );
  return [...renderToolOutput(rows.slice(0, MAX_COLLAPSED_LINES), glyphs.output), hiddenNote];
}

function createEntry(copyText: string, ...lines: readonly LogicalLine[]): PageEntry {
  return { lines, copyText, mark: 'inside' };
}
