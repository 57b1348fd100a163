import { graphemes, textWidth } from '../../lib/text/text-width.ts';
import { truncateEnd } from '../../lib/text/truncate.ts';
import { isDecided, type ReviewPage, refusedHunks } from '../view/review-page.ts';
import type { Viewer } from '../view/viewer-state.ts';

/** The keys of a page in words, the fullest first. */
type Keys = readonly [string, ...string[]];

const KEYS: Readonly<Record<'transcript' | 'text' | 'request', Keys>> = {
  transcript: [
    'q back  / n N search  [ ] turns  o output  t thinking  y copy  w write',
    'q back  / search  [ ] turns  o output  t thinking',
    'q back  / search  [ ] turns',
  ],
  text: ['q back  / n N search  y copy', 'q back  / search'],
  request: ['y yes, once  n no  q back  [ ] parts  / search', 'y yes  n no  q back  [ ] parts', 'y yes  n no  q back'],
};

/** The line at the bottom of a page: where one is, and the keys. The keys give way last, and none is cut. */
export function footLine(
  { title, rows, top, entering, query, page, note }: Viewer,
  room: number,
  width: number,
): string {
  if (entering === 'query') return tailOf(`/${query}`, width);
  if (page.kind === 'review' && page.writing !== undefined) return reasonLine(page.writing, width);
  const last = Math.min(rows.length, top + room);
  const place = rows.length === 0 ? 'nothing yet' : `${top + 1}-${last} of ${rows.length}`;
  if (note !== '') return truncateEnd(`${title}  ${place}   ${note}`, width);
  const keys = page.kind === 'review' ? reviewKeys(page) : KEYS[page.kind];
  const shortest = keys.at(-1) ?? keys[0];
  const fuller = keys.filter((one) => one !== shortest);
  const behind = (before: string) => (one: string) => `${before}   ${one}`;
  const [titled, placed] = [behind(`${title}  ${place}`), behind(place)];
  const forms = [...fuller.map(titled), ...fuller.map(placed), titled(shortest), placed(shortest)];
  return forms.find((form) => textWidth(form) <= width) ?? truncateEnd(shortest, width);
}

function reasonLine(reason: string, width: number): string {
  const keys = '   enter refuses this part';
  const line = `why not? ${reason}_`;
  return textWidth(line + keys) <= width ? line + keys : `why not? ${tailOf(`${reason}_`, width - 'why not? '.length)}`;
}

/** The end that is written at stays in sight. */
function tailOf(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  const kept = graphemes(text);
  while (textWidth(kept.join('')) > width - 2) kept.shift();
  return `… ${kept.join('')}`;
}

function reviewKeys({ goal, hunks, marks }: ReviewPage): Keys {
  const isOne = hunks.length === 1;
  const parts = isOne ? '' : '  [ ] parts';
  if (goal.type === 'take_back')
    return [`u take this part back${parts}  / search  q back`, `u take back${parts}  q back`];
  if (isOne) return ['y yes  n no  t no, and why  q back  / search', 'y yes  n no  t why not  q back'];
  const refused = refusedHunks({ marks }).length;
  if (isDecided({ marks })) {
    const sends = `enter sends ${hunks.length - refused} yes, ${refused} no`;
    return [`${sends}  [ ] parts  q back`, `${sends}  q back`];
  }
  return [
    'y yes  n no  t no, and why  a all the rest  d none of the rest  [ ] parts  q back',
    'y yes  n no  t why not  a all  d none  [ ] parts  q back',
    'y yes  n no  t why  a all  d none  q',
  ];
}
