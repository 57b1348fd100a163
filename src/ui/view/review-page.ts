import type { DiffHunk } from '../../contracts/display.ts';
import type { Review } from '../../contracts/face/command.ts';
import type { PermissionAnswer } from '../../contracts/permission.ts';
import { formatCount } from '../../lib/text/format.ts';

/** A change that is looked through part by part. */
export type ReviewPage = {
  readonly kind: 'review';
  readonly hunks: readonly DiffHunk[];
  /** The hunk the keys are about. */
  readonly at: number;
  readonly marks: readonly HunkMark[];
  /** The reason that is being written. */
  readonly writing: string | undefined;
  /** What comes of it: an answer to a question, or parts that are taken back by a command. */
  readonly goal:
    | { readonly type: 'answer'; readonly requestId: string }
    | { readonly type: 'take_back'; readonly review: Review };
};

export type HunkMark = { readonly verdict: 'open' | 'yes' | 'no'; readonly why: string };

const OPEN: HunkMark = { verdict: 'open', why: '' };

/** A change at its first hunk, nothing decided. */
export function reviewPage(hunks: readonly DiffHunk[], goal: ReviewPage['goal']): ReviewPage {
  return { kind: 'review', hunks, at: 0, marks: hunks.map(() => OPEN), writing: undefined, goal };
}

/** The hunk so many further on, held at the ends. */
export function moveReview(page: ReviewPage, by: number): ReviewPage {
  return { ...page, at: Math.max(0, Math.min(page.hunks.length - 1, page.at + by)) };
}

/** This hunk is decided; the next open one is looked at. */
export function markHunk(page: ReviewPage, mark: HunkMark): ReviewPage {
  const marks = page.marks.with(page.at, mark);
  const after = marks.findIndex(({ verdict }, at) => at > page.at && verdict === 'open');
  const next = after === -1 ? marks.findIndex(({ verdict }) => verdict === 'open') : after;
  return { ...page, marks, at: next === -1 ? page.at : next, writing: undefined };
}

/** Is there nothing left to decide? */
export function isDecided({ marks }: Pick<ReviewPage, 'marks'>): boolean {
  return marks.every(({ verdict }) => verdict !== 'open');
}

/** The hunks somebody said no to, by their place. */
export function refusedHunks({ marks }: Pick<ReviewPage, 'marks'>): readonly number[] {
  return marks.flatMap(({ verdict }, at) => (verdict === 'no' ? [at] : []));
}

/** What is answered when some hunks were refused: all of it, or with an input that leaves them out. */
export function reviewAnswer(
  page: Pick<ReviewPage, 'hunks' | 'marks'>,
  inputWithout: (refused: readonly number[]) => Extract<PermissionAnswer, { behavior: 'allow' }>['updatedInput'],
): PermissionAnswer {
  const refused = refusedHunks(page);
  if (refused.length === 0) return { behavior: 'allow' };
  const words = refused.map((at) => refusalWords(page, at)).join('\n');
  const updatedInput = refused.length === page.hunks.length ? undefined : inputWithout(refused);
  if (updatedInput === undefined)
    return { behavior: 'deny', message: `The user looked at this edit part by part and refused all of it.\n${words}` };
  const count = `${formatCount(page.hunks.length - refused.length, 'part')} of ${page.hunks.length}`;
  const note = `The user looked at this edit part by part and allowed ${count}; these were refused and are not in the file:\n${words}\n`;
  return { behavior: 'allow', updatedInput, note };
}

/** Which parts somebody said no to and why, in a line for their own history; `undefined` where it was all or nothing. */
export function refusedWords(page: Pick<ReviewPage, 'hunks' | 'marks'>): string | undefined {
  const refused = refusedHunks(page);
  if (refused.length === 0 || refused.length === page.hunks.length) return undefined;
  const parts = refused.map((at) => {
    const why = page.marks[at]?.why ?? '';
    return `line ${page.hunks[at]?.newStart ?? 0}${why === '' ? '' : ` (${why})`}`;
  });
  return `You refused ${refused.length} of ${formatCount(page.hunks.length, 'part')}: ${parts.join(', ')}.`;
}

const SIGNS = { add: '+', del: '-', same: ' ' } as const;
const SHOWN_LINES = 12;

function refusalWords({ hunks, marks }: Pick<ReviewPage, 'hunks' | 'marks'>, at: number): string {
  const hunk = hunks[at];
  const why = marks[at]?.why ?? '';
  const lines = (hunk?.lines ?? [])
    .filter(({ kind }) => kind !== 'same')
    .map(({ kind, text }) => `${SIGNS[kind]}${text}`);
  const shown =
    lines.length > SHOWN_LINES ? [...lines.slice(0, SHOWN_LINES), `… ${lines.length - SHOWN_LINES} more lines`] : lines;
  const reason = why === '' ? 'no reason was given' : `because: ${why}`;
  return [`Refused (line ${hunk?.newStart ?? 0}), ${reason}`, ...shown].join('\n');
}
