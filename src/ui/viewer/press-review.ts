import type { Review } from '../../contracts/face/command.ts';
import { graphemes } from '../../lib/text/text-width.ts';
import type { InputEvent } from '../keys/input-event.ts';
import { isDecided, markHunk, moveReview, type ReviewPage } from '../view/review-page.ts';

type KeyInput = Extract<InputEvent, { type: 'key' }>;

/** What a key comes to on a page that is looked through part by part; `undefined` when it only moves. */
export type ReviewPress =
  | { readonly type: 'page'; readonly page: ReviewPage }
  /** Everything is decided. */
  | { readonly type: 'reviewed'; readonly page: ReviewPage }
  | { readonly type: 'take_back'; readonly line: string; readonly shows: string };

/** As in `git add -p`: y and n decide this part and go on to the next. */
export function pressReview(page: ReviewPage, { chord, text }: KeyInput): ReviewPress | undefined {
  if (page.writing !== undefined) return writeReason(page, page.writing, { chord, text });
  switch (chord) {
    case ']':
    case 'right':
    case 'tab':
      return { type: 'page', page: moveReview(page, 1) };
    case '[':
    case 'left':
    case 'shift+tab':
      return { type: 'page', page: moveReview(page, -1) };
    default:
      return page.goal.type === 'answer' ? pressAnswer(page, chord) : pressTakeBack(page, page.goal.review, chord);
  }
}

function pressAnswer(page: ReviewPage, chord: string): ReviewPress | undefined {
  switch (chord) {
    case 'y':
      return decided(page, markHunk(page, { verdict: 'yes', why: '' }));
    case 'n':
      return decided(page, markHunk(page, { verdict: 'no', why: '' }));
    case 't':
      return { type: 'page', page: { ...page, writing: page.marks[page.at]?.why ?? '' } };
    case 'a':
      return { type: 'reviewed', page: restMarked(page, 'yes') };
    case 'd':
      return { type: 'reviewed', page: restMarked(page, 'no') };
    case 'enter':
      return isDecided(page) ? { type: 'reviewed', page } : { type: 'page', page: moveReview(page, 1) };
    default:
      return undefined;
  }
}

/** A change of one part is answered by one key; several are looked over once more. */
function decided(before: ReviewPage, page: ReviewPage): ReviewPress {
  return before.hunks.length === 1 ? { type: 'reviewed', page } : { type: 'page', page };
}

/** Everything that is still open is decided the same way. */
function restMarked(page: ReviewPage, verdict: 'yes' | 'no'): ReviewPage {
  const marks = page.marks.map((mark) => (mark.verdict === 'open' ? { verdict, why: '' } : mark));
  return { ...page, marks };
}

function pressTakeBack(page: ReviewPage, { takeBack, line: shows }: Review, chord: string): ReviewPress | undefined {
  if (chord !== 'u' || page.hunks.length === 0) return undefined;
  return { type: 'take_back', line: `${takeBack} ${page.at + 1}`, shows };
}

/** The reason for a no is a line; without words it is a no all the same. */
function writeReason(page: ReviewPage, words: string, { chord, text }: Pick<KeyInput, 'chord' | 'text'>): ReviewPress {
  const writing = (next: string): ReviewPress => ({ type: 'page', page: { ...page, writing: next } });
  switch (chord) {
    case 'escape':
    case 'ctrl+c':
      return { type: 'page', page: { ...page, writing: undefined } };
    case 'enter':
      return decided(page, markHunk(page, { verdict: 'no', why: words.trim() }));
    case 'backspace':
      return writing(graphemes(words).slice(0, -1).join(''));
    case 'ctrl+u':
      return writing('');
    default:
      return writing(words + text);
  }
}
