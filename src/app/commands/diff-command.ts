import { relative } from 'node:path';
import type { TurnChangedFile, TurnChangedFiles } from '../../checkpoints/review-changes.ts';
import type { FileChangeReview, PanelRow, SlashCommandOutcome } from '../../contracts/frontend/command.ts';
import { formatClock, formatCount, formatOneLine } from '../../lib/text/format.ts';
import { formatCodeBlock } from '../../lib/text/markdown.ts';
import type { ConversationParts } from '../conversation-parts.ts';
import {
  type BuiltinSlashCommand,
  createErrorOutcome,
  createPanelOutcome,
  createSuccessOutcome,
} from './builtin-slash-command.ts';

const USAGE =
  'Usage: /diff, /diff <turn> <file>, or /diff back <turn> <file> <hunk>, with the numbers that /diff shows.';

/** `/diff`: lists the changes of this session by prompt and file. Single hunks can be reverted. */
export const DIFF_SLASH_COMMAND: BuiltinSlashCommand = {
  name: 'diff',
  description: 'review the changes of this session, and revert parts of them',
  argumentHint: '[<turn> <file> | back <turn> <file> <hunk>]',
  async run(args, parts) {
    const tokens = args.trim().split(/\s+/).filter(Boolean);
    const { review } = parts.actions;
    const turns = await review.listTurns();
    if (tokens.length === 0) return createOverview(turns, parts);
    const [turn = 0, file = 0, hunk = 0] = (tokens[0] === 'back' ? tokens.slice(1) : tokens).map(Number);
    const changedFile = turns[turn - 1]?.files[file - 1];
    if (changedFile === undefined) return createErrorOutcome(`There is no such change. ${USAGE}`);
    if (tokens[0] !== 'back') return createReview(changedFile, `${turn} ${file}`, parts);
    const outcome = await review.revertHunk(changedFile, hunk - 1);
    return outcome.ok ? createSuccessOutcome(outcome.message) : createErrorOutcome(outcome.message);
  },
};

/** Creates the list of changes, newest prompt first. */
function createOverview(turns: readonly TurnChangedFiles[], { core }: ConversationParts): SlashCommandOutcome {
  const { cwd } = core.live.current();
  const rows = turns
    .flatMap((turn, at) => [{ turn, at }])
    .toReversed()
    .flatMap(({ turn, at }) => turn.files.map((file, index) => createRow(turn, file, `${at + 1} ${index + 1}`, cwd)));
  const files = new Set(turns.flatMap((turn) => turn.files.map(({ path }) => path))).size;
  return createPanelOutcome({
    title: 'Changes',
    command: 'diff',
    note: `${formatCount(files, 'file')} in ${formatCount(turns.length, 'turn')}; /undo and /rewind revert whole turns`,
    rows,
    empty: 'No files changed in this session.',
    actions: [],
  });
}

function createRow({ prompt, at }: TurnChangedFiles, file: TurnChangedFile, numbers: string, cwd: string): PanelRow {
  const { path, state, added, removed, parts } = file;
  const group = `${formatClock(at)}  ${formatOneLine(prompt)}`;
  const stateLabel = { changed: '', made: 'new', removed: 'deleted', unknown: 'not text, or not stored' }[state];
  const note = parts.length === 0 && state !== 'unknown' ? 'no changes left' : stateLabel;
  return {
    id: numbers,
    group,
    cells: [relative(cwd, path) || path, state === 'unknown' ? '' : `+${added} −${removed}`, note],
    ...(parts.length === 0 ? { mark: 'off' as const } : {}),
    detail: [],
    actions: parts.length === 0 ? [] : [{ kind: 'run', key: 'enter', label: 'shows it', command: `diff ${numbers}` }],
  };
}

function createReview(file: TurnChangedFile, numbers: string, { core }: ConversationParts): SlashCommandOutcome {
  const title = relative(core.live.current().cwd, file.path) || file.path;
  if (file.parts.length === 0) return createSuccessOutcome(`No changes of this turn are left in ${title}.`);
  const hunks = file.parts.map(({ hunk }) => hunk);
  const signs = { add: '+', del: '-', same: ' ' } as const;
  const text = hunks.map(({ lines }) => lines.map((line) => `${signs[line.kind]}${line.text}`).join('\n')).join('\n\n');
  const review: FileChangeReview = { title, command: `diff ${numbers}`, revertCommand: `diff back ${numbers}`, hunks };
  return { kind: 'review', review, text: `${title}\n\n${formatCodeBlock(text)}` };
}
