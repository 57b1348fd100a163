import type { DiffHunk } from '../../contracts/display.ts';
import type { JsonObject, JsonValue } from '../../contracts/json.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';
import { sanitize, sanitizeScreen } from '../../lib/text/sanitize.ts';
import { diffLines } from '../history/diff-lines.ts';
import type { Drawing } from '../text/drawing.ts';
import { shortPath, shortTitle } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import type { Attention } from '../view/ask.ts';
import { inputDiff } from '../view/input-diff.ts';

type Armed = Extract<Attention, { stage: 'armed' }>;

const LONG_VALUE = 200;
const FEW_ROWS = 16;

/** What is being asked, in a line. */
export function permissionTitle({ facts, toolName, agentId }: PermissionRequest, { cwd }: Drawing): string {
  const by = agentId === undefined ? '' : ' (a sub-agent)';
  switch (facts.kind) {
    case 'shell':
      return `Allow this command?${by}`;
    case 'edit': {
      const path = facts.writes?.[0];
      return `Allow this edit?${by}${path === undefined ? '' : `   ${sanitize(shortPath(path, cwd), 'prompt')}`}`;
    }
    case 'fetch':
      return `Allow fetching this page?${by}`;
    default:
      return `Allow ${sanitizeScreen(toolName)}?${by}`;
  }
}

/** What would happen, by kind: the command, the diff, the input. */
export function permissionBody(request: PermissionRequest, { form }: Armed, drawing: Drawing): readonly LogicalLine[] {
  const reasons = request.reasons.map((reason) => indented(toned('dim', sanitizeScreen(reason))));
  const targets = request.targets.map(({ path, real }) =>
    indented(toned('warn', sanitize(`${path} really is ${real}`, 'prompt'))),
  );
  const hidden =
    request.concealed === 'hidden_characters' ? [indented(toned('error', 'Holds characters that do not show.'))] : [];
  const details = form.details === 'shown' ? detailLines(request) : [];
  return [...subject(request, drawing), ...targets, ...hidden, ...reasons, ...details];
}

function subject(request: PermissionRequest, drawing: Drawing): readonly LogicalLine[] {
  const { facts, description } = request;
  const said =
    description === undefined || description === '' ? [] : [indented(toned('dim', sanitizeScreen(description)))];
  switch (facts.kind) {
    case 'shell':
      return [...commandLines(facts.command ?? request.title), ...said];
    case 'edit': {
      const hunks = request.preview?.kind === 'diff' ? request.preview.hunks : inputDiff(facts.input);
      // Where rows are few, what changes must be among them.
      const shown = drawing.rows < FEW_ROWS ? hunks.map(withoutHead) : hunks;
      return hunks.length === 0 ? inputLines(facts.input) : diffLines({ hunks: shown }, drawing.width);
    }
    case 'fetch':
      return [indented(plain(sanitize(facts.url ?? request.title, 'prompt'))), ...said];
    default:
      return [
        indented(plain(shortTitle(sanitizeScreen(request.title), drawing.cwd))),
        ...said,
        ...inputLines(facts.input),
      ];
  }
}

/** A hunk that begins with what it changes. */
function withoutHead(hunk: DiffHunk): DiffHunk {
  const same = hunk.lines.findIndex(({ kind }) => kind !== 'same');
  if (same <= 0) return hunk;
  const { oldStart, newStart, lines } = hunk;
  return { ...hunk, oldStart: oldStart + same, newStart: newStart + same, lines: lines.slice(same) };
}

function commandLines(command: string): readonly LogicalLine[] {
  return sanitize(command, 'prompt')
    .split('\n')
    .map((line) => indented({ text: line, style: { bold: true } }));
}

/** Every argument on its own line; long ones by their length. */
function inputLines(input: JsonObject): readonly LogicalLine[] {
  return Object.entries(input).map(([name, value]) => indented(toned('dim', `${name}  `), plain(valueText(value))));
}

function valueText(value: JsonValue | undefined): string {
  const text = sanitize(JSON.stringify(value) ?? '', 'prompt');
  return text.length > LONG_VALUE ? `(${text.length} characters, d to read)` : text;
}

function detailLines({ trace, facts }: PermissionRequest): readonly LogicalLine[] {
  return [
    ...trace.map(({ stage, text }) => indented(toned('dim', `${stage}: ${sanitizeScreen(text)}`))),
    ...JSON.stringify(facts.input, undefined, 2)
      .split('\n')
      .map((line) => indented(toned('dim', sanitize(line, 'prompt')))),
  ];
}

function indented(...spans: readonly Span[]): LogicalLine {
  return { ...terminalLine(...spans), indent: 2 };
}
