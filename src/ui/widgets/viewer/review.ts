import type { DiffHunk } from '../../../contracts/display.ts';
import type { FileChangeReview } from '../../../contracts/frontend/command.ts';
import type { PermissionAnswer } from '../../../contracts/permission.ts';
import { formatCount } from '../../../lib/text/format.ts';
import { splitGraphemes } from '../../../lib/text/text-width.ts';
import type { InputEvent } from '../../input/input-event.ts';

/** A page for reviewing a change hunk by hunk. */
export type ReviewPage = {
  readonly kind: 'review';
  /** Path of the changed file, if it is known. */
  readonly path: string | undefined;
  readonly hunks: readonly DiffHunk[];
  /** Index of the selected hunk. */
  readonly selected: number;
  readonly decisions: readonly HunkDecision[];
  /** Reason for a refusal while it is being typed. */
  readonly typedReason: string | undefined;
  /** Result of the review: an answer to a permission request, or hunks reverted by a command. */
  readonly purpose:
    | { readonly type: 'answer'; readonly requestId: string }
    | { readonly type: 'take_back'; readonly review: FileChangeReview };
};

/** The decision about one hunk. */
export type HunkDecision = { readonly verdict: 'open' | 'yes' | 'no'; readonly reason: string };

const UNDECIDED: HunkDecision = { verdict: 'open', reason: '' };

/** Creates a review page at the first hunk, with no decisions. */
export function createReviewPage(
  hunks: readonly DiffHunk[],
  purpose: ReviewPage['purpose'],
  path?: string,
): ReviewPage {
  return {
    kind: 'review',
    path,
    hunks,
    selected: 0,
    decisions: hunks.map(() => UNDECIDED),
    typedReason: undefined,
    purpose,
  };
}

/** Selects the hunk a number of steps away, limited by the first and the last hunk. */
export function selectHunk(page: ReviewPage, step: number): ReviewPage {
  return { ...page, selected: Math.max(0, Math.min(page.hunks.length - 1, page.selected + step)) };
}

/** Stores the decision about the selected hunk and selects the next undecided one. @internal Exported for tests. */
export function decideHunk(page: ReviewPage, mark: HunkDecision): ReviewPage {
  const decisions = page.decisions.with(page.selected, mark);
  const nextAfter = decisions.findIndex(({ verdict }, index) => index > page.selected && verdict === 'open');
  const next = nextAfter === -1 ? decisions.findIndex(({ verdict }) => verdict === 'open') : nextAfter;
  return { ...page, decisions, selected: next === -1 ? page.selected : next, typedReason: undefined };
}

/** Returns whether every hunk has been decided. */
export function isReviewComplete({ decisions }: Pick<ReviewPage, 'decisions'>): boolean {
  return decisions.every(({ verdict }) => verdict !== 'open');
}

/** Returns the indexes of the refused hunks. */
export function getRefusedHunks({ decisions }: Pick<ReviewPage, 'decisions'>): readonly number[] {
  return decisions.flatMap(({ verdict }, index) => (verdict === 'no' ? [index] : []));
}

/** Creates the answer to the permission request: allow, deny, or allow with an input without the refused hunks. */
export function createReviewAnswer(
  page: Pick<ReviewPage, 'hunks' | 'decisions'>,
  inputWithout: (refused: readonly number[]) => Extract<PermissionAnswer, { behavior: 'allow' }>['updatedInput'],
): PermissionAnswer {
  const refused = getRefusedHunks(page);
  if (refused.length === 0) return { behavior: 'allow' };
  const descriptions = refused.map((index) => describeRefusal(page, index)).join('\n');
  const updatedInput = refused.length === page.hunks.length ? undefined : inputWithout(refused);
  if (updatedInput === undefined)
    return {
      behavior: 'deny',
      note: `They looked at it part by part:\n${descriptions}\n`,
    };
  const count = `${formatCount(page.hunks.length - refused.length, 'part')} of ${page.hunks.length}`;
  const note = `The user looked at this edit part by part and allowed ${count}; these were refused and are not in the file:\n${descriptions}\n`;
  return { behavior: 'allow', updatedInput, note };
}

/** Describes the refused hunks for the history of the user; `undefined` if all or none were refused. */
export function describeRefusedHunks(page: Pick<ReviewPage, 'hunks' | 'decisions'>): string | undefined {
  const refused = getRefusedHunks(page);
  if (refused.length === 0 || refused.length === page.hunks.length) return undefined;
  const parts = refused.map((index) => {
    const reason = page.decisions[index]?.reason ?? '';
    return `line ${page.hunks[index]?.newStart ?? 0}${reason === '' ? '' : ` (${reason})`}`;
  });
  return `You refused ${refused.length} of ${formatCount(page.hunks.length, 'part')}: ${parts.join(', ')}.`;
}

const SIGNS = { add: '+', del: '-', same: ' ' } as const;
const MAX_SHOWN_LINES = 12;

function describeRefusal({ hunks, decisions }: Pick<ReviewPage, 'hunks' | 'decisions'>, index: number): string {
  const hunk = hunks[index];
  const reason = decisions[index]?.reason ?? '';
  const lines = (hunk?.lines ?? [])
    .filter(({ kind }) => kind !== 'same')
    .map(({ kind, text }) => `${SIGNS[kind]}${text}`);
  const shownLines =
    lines.length > MAX_SHOWN_LINES
      ? [...lines.slice(0, MAX_SHOWN_LINES), `… ${lines.length - MAX_SHOWN_LINES} more lines`]
      : lines;
  const reasonText = reason === '' ? 'no reason was given' : `because: ${reason}`;
  return [`Refused (line ${hunk?.newStart ?? 0}), ${reasonText}`, ...shownLines].join('\n');
}

type KeyInput = Extract<InputEvent, { type: 'key' }>;

/** The effect of a key in a review. */
export type ReviewKeyResult =
  | { readonly type: 'page'; readonly page: ReviewPage }
  /** The review is finished and its decisions are sent. */
  | { readonly type: 'reviewed'; readonly page: ReviewPage }
  | { readonly type: 'take_back'; readonly command: string; readonly viewCommand: string };

/** Handles a key of a review; the keys are those of `git add -p`. Returns undefined for keys of the viewer. */
export function resolveReviewKey(page: ReviewPage, { chord, text }: KeyInput): ReviewKeyResult | undefined {
  if (page.typedReason !== undefined) return handleReasonKey(page, page.typedReason, { chord, text });
  switch (chord) {
    case ']':
    case 'right':
    case 'tab':
      return { type: 'page', page: selectHunk(page, 1) };
    case '[':
    case 'left':
    case 'shift+tab':
      return { type: 'page', page: selectHunk(page, -1) };
    default:
      return page.purpose.type === 'answer'
        ? handleAnswerKey(page, chord)
        : handleRevertKey(page, page.purpose.review, chord);
  }
}

function handleAnswerKey(page: ReviewPage, chord: string): ReviewKeyResult | undefined {
  switch (chord) {
    case 'y':
      return finishIfSingle(page, decideHunk(page, { verdict: 'yes', reason: '' }));
    case 'n':
      return finishIfSingle(page, decideHunk(page, { verdict: 'no', reason: '' }));
    case 't':
      return { type: 'page', page: { ...page, typedReason: page.decisions[page.selected]?.reason ?? '' } };
    case 'a':
      return { type: 'reviewed', page: markUndecided(page, 'yes') };
    case 'd':
      return { type: 'reviewed', page: markUndecided(page, 'no') };
    case 'enter':
      return isReviewComplete(page) ? { type: 'reviewed', page } : { type: 'page', page: selectHunk(page, 1) };
    default:
      return undefined;
  }
}

/** Finishes the review of a single hunk at once; with several hunks the user confirms with Enter. */
function finishIfSingle(before: ReviewPage, page: ReviewPage): ReviewKeyResult {
  return before.hunks.length === 1 ? { type: 'reviewed', page } : { type: 'page', page };
}

/** Applies a verdict to all undecided hunks. */
function markUndecided(page: ReviewPage, verdict: 'yes' | 'no'): ReviewPage {
  const decisions = page.decisions.map((mark) => (mark.verdict === 'open' ? { verdict, reason: '' } : mark));
  return { ...page, decisions };
}

function handleRevertKey(
  page: ReviewPage,
  { revertCommand, command: viewCommand }: FileChangeReview,
  chord: string,
): ReviewKeyResult | undefined {
  if (chord !== 'u' || page.hunks.length === 0) return undefined;
  return { type: 'take_back', command: `${revertCommand} ${page.selected + 1}`, viewCommand };
}

/** Handles a key while the reason for a refusal is typed. The reason may be empty. */
function handleReasonKey(
  page: ReviewPage,
  reason: string,
  { chord, text }: Pick<KeyInput, 'chord' | 'text'>,
): ReviewKeyResult {
  const setReason = (next: string): ReviewKeyResult => ({ type: 'page', page: { ...page, typedReason: next } });
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return { type: 'page', page: { ...page, typedReason: undefined } };
    case 'enter':
      return finishIfSingle(page, decideHunk(page, { verdict: 'no', reason: reason.trim() }));
    case 'backspace':
      return setReason(splitGraphemes(reason).slice(0, -1).join(''));
    case 'ctrl+u':
      return setReason('');
    default:
      return setReason(reason + text);
  }
}
