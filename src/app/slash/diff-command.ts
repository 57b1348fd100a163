import { relative } from 'node:path';
import type { CommandOutcome } from '../../contracts/face/command.ts';
import type { PanelRow } from '../../contracts/face/panel.ts';
import { fenced } from '../../lib/text/fence.ts';
import { formatClock, formatCount } from '../../lib/text/format.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import type { ChangedFile, ChangedTurn } from '../session/review-changes.ts';
import { asPanel, type BuiltinCommand, done, failed } from './builtin-command.ts';
import type { ConversationParts } from './conversation-parts.ts';

const USAGE = 'Say /diff, /diff <turn> <file>, or /diff back <turn> <file> <part>, with the numbers /diff shows.';

/** What this session changed: by prompt and file, each to be looked at and taken back part by part. */
export const DIFF_COMMAND: BuiltinCommand = {
  name: 'diff',
  description: 'what this session changed, by prompt and file; take parts of it back',
  argumentHint: '[<turn> <file> | back <turn> <file> <part>]',
  async run(args, parts) {
    const words = args.trim().split(/\s+/).filter(Boolean);
    const { review } = parts.actions;
    const turns = await review.turns();
    if (words.length === 0) return overview(turns, parts);
    const [turn = 0, file = 0, part = 0] = (words[0] === 'back' ? words.slice(1) : words).map(Number);
    const wanted = turns[turn - 1]?.files[file - 1];
    if (wanted === undefined) return failed(`There is no such change. ${USAGE}`);
    if (words[0] !== 'back') return shown(wanted, `${turn} ${file}`, parts);
    const taken = await review.takeBack(wanted, part - 1);
    return taken.ok ? done(taken.words) : failed(taken.words);
  },
};

/** The newest prompt first. */
function overview(turns: readonly ChangedTurn[], { core }: ConversationParts): CommandOutcome {
  const { cwd } = core.live.now();
  const rows = turns
    .flatMap((turn, at) => [{ turn, at }])
    .toReversed()
    .flatMap(({ turn, at }) => turn.files.map((file, index) => rowOf(turn, file, `${at + 1} ${index + 1}`, cwd)));
  const files = new Set(turns.flatMap((turn) => turn.files.map(({ path }) => path))).size;
  return asPanel({
    title: 'Changes',
    line: 'diff',
    note: `${formatCount(files, 'file')} in ${formatCount(turns.length, 'turn')}; /undo and /rewind take whole turns back`,
    rows,
    empty: 'No file was changed in this session.',
    acts: [],
  });
}

function rowOf({ prompt, at }: ChangedTurn, file: ChangedFile, numbers: string, cwd: string): PanelRow {
  const { path, state, added, removed, parts } = file;
  const group = `${formatClock(at)}  ${oneLine(prompt)}`;
  const words = { changed: '', made: 'new', removed: 'removed', unknown: 'not a text, or not kept' }[state];
  const left = parts.length === 0 && state !== 'unknown' ? 'nothing of it is left' : words;
  return {
    id: numbers,
    group,
    cells: [relative(cwd, path) || path, state === 'unknown' ? '' : `+${added} −${removed}`, left],
    ...(parts.length === 0 ? { mark: 'off' as const } : {}),
    detail: [],
    acts: parts.length === 0 ? [] : [{ kind: 'run', key: 'enter', label: 'looks at it', line: `diff ${numbers}` }],
  };
}

function shown(file: ChangedFile, numbers: string, { core }: ConversationParts): CommandOutcome {
  const title = relative(core.live.now().cwd, file.path) || file.path;
  if (file.parts.length === 0) return done(`Nothing of that change is left in ${title}.`);
  const hunks = file.parts.map(({ hunk }) => hunk);
  const signs = { add: '+', del: '-', same: ' ' } as const;
  const text = hunks.map(({ lines }) => lines.map((line) => `${signs[line.kind]}${line.text}`).join('\n')).join('\n\n');
  const review = { title, line: `diff ${numbers}`, takeBack: `diff back ${numbers}`, hunks };
  return { kind: 'review', review, text: `${title}\n\n${fenced(text)}` };
}
