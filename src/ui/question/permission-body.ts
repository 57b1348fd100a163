import type { DiffHunk } from '../../contracts/display.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { diffLines } from '../history/diff-lines.ts';
import type { Drawing } from '../text/drawing.ts';
import { shortPath, shortTitle } from '../text/drawing.ts';
import { type LogicalLine, plain, type Span, terminalLine, toned } from '../text/line.ts';
import { inputDiff } from './input-diff.ts';

/** What a dialog shows above its options, from the top. */
export type DialogBody = {
  /** Never left out. */
  readonly warnings: readonly LogicalLine[];
  /** What it is about; its ends stay, and where its middle is cut the answer is taken elsewhere. */
  readonly subject: readonly LogicalLine[];
  /** The first to give way. */
  readonly said: readonly LogicalLine[];
  /** Never left out. */
  readonly risks: readonly LogicalLine[];
  readonly details: readonly LogicalLine[];
};

/** A reason that the change itself, or the words of what is at stake, say better. */
const WRITES = /^Writing (.+) changes the workspace\.$/;

/** What is being asked, in a line. */
export function permissionTitle({ facts, toolName, agentId }: PermissionRequest, { cwd }: Drawing): string {
  const by = agentId === undefined ? '' : ' (a sub-agent)';
  switch (facts.kind) {
    case 'shell':
      return `Run this command?${by}`;
    case 'edit': {
      const path = facts.writes?.[0];
      return `Make this change?${by}${path === undefined ? '' : `   ${sanitize(shortPath(path, cwd), 'line')}`}`;
    }
    case 'fetch':
      return `${facts.command === undefined ? 'Fetch this page?' : 'Let this command reach the network?'}${by}`;
    case 'mcp': {
      const [, server = '', tool = ''] = /^mcp__(.+?)__(.+)$/.exec(facts.tool) ?? [];
      return `Let ${sanitize(server === '' ? toolName : server, 'line')} do this?${by}${tool === '' ? '' : `   ${sanitize(tool, 'line')}`}`;
    }
    default:
      return `Allow ${sanitize(toolName, 'line')}?${by}`;
  }
}

/** What would happen, by kind: the command, the diff, the input, and what is at stake. */
export function permissionBody(request: PermissionRequest, drawing: Drawing, details: 'hidden' | 'shown'): DialogBody {
  const { reasons, risks = [], description = '', concealed } = request;
  const hidden =
    concealed === 'hidden_characters' ? [terminalLine(toned('error', 'Holds characters that do not show.'))] : [];
  const targets = request.targets.map(({ path, real }) =>
    terminalLine(toned('error', sanitize(`${path} really is ${real}`, 'line'))),
  );
  const written = request.facts.kind === 'edit' ? [] : reasons.flatMap((reason) => WRITES.exec(reason)?.[1] ?? []);
  const writes = written.map((path) => toned('dim', `writes ${sanitize(shortPath(path, drawing.cwd), 'line')}`));
  const grave = risks.map(({ kind, text }) =>
    toned(
      kind === 'deletes' || kind === 'publishes' || kind === 'runs_download' ? 'warn' : 'dim',
      sanitize(text, 'line'),
    ),
  );
  const stakes = [...grave, ...writes].flatMap((span, at) =>
    at === 0 ? [span] : [toned('dim', drawing.glyphs.separator), span],
  );
  const known = reasons.filter((reason) => !reason.endsWith('is not known to be read-only.') && !WRITES.test(reason));
  return {
    warnings: [...hidden, ...targets],
    subject: subject(request, drawing),
    said: description === '' ? [] : [terminalLine(toned('dim', sanitize(description, 'line')))],
    risks: [
      ...(stakes.length === 0 ? [] : [terminalLine(...stakes)]),
      ...known.map((reason) => terminalLine(toned('dim', sanitize(reason, 'line')))),
    ],
    details: details === 'shown' ? detailLines(request) : [],
  };
}

function subject(request: PermissionRequest, drawing: Drawing): readonly LogicalLine[] {
  const { facts } = request;
  switch (facts.kind) {
    case 'shell':
      return codeLines(facts.command ?? request.title);
    case 'edit': {
      const hunks = hunksOf(request);
      return hunks.length === 0 ? inputLines(facts.input) : diffLines({ hunks }, drawing.width);
    }
    case 'fetch':
      return facts.command === undefined
        ? codeLines(facts.url ?? request.title)
        : [...codeLines(`host ${request.title}`), ...codeLines(facts.command)];
    default: {
      const title = shortTitle(sanitize(request.title, 'line'), drawing.cwd);
      // The title names the tool, as the first line does.
      return [...(facts.kind === 'mcp' ? [] : [terminalLine(plain(title))]), ...inputLines(facts.input)];
    }
  }
}

/** What an edit would change. */
export function hunksOf({ preview, facts }: PermissionRequest): readonly DiffHunk[] {
  return preview?.kind === 'diff' ? preview.hunks : inputDiff(facts.input);
}

function codeLines(command: string): readonly LogicalLine[] {
  return sanitize(command, 'prompt')
    .split('\n')
    .map((line) => terminalLine({ text: line, style: { bold: true } }));
}

/** Every argument, whole. */
function inputLines(input: JsonObject): readonly LogicalLine[] {
  return Object.entries(input).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    const [first = '', ...rest] = sanitize(text, 'prompt').split('\n');
    const head: readonly Span[] = [toned('dim', `${sanitize(name, 'line')}  `), plain(first)];
    return [terminalLine(...head), ...rest.map((line) => ({ ...terminalLine(plain(line)), indent: 2 }))];
  });
}

function detailLines({ trace, facts }: PermissionRequest): readonly LogicalLine[] {
  return [
    ...trace.map(({ stage, text }) => terminalLine(toned('dim', `${stage}: ${sanitize(text, 'line')}`))),
    ...JSON.stringify(facts.input, undefined, 2)
      .split('\n')
      .map((line) => terminalLine(toned('dim', sanitize(line, 'prompt')))),
  ];
}
