import type { FailureKind, ModelFailure } from '../../contracts/model.ts';
import { sanitizeScreen } from '../../lib/text/sanitize.ts';
import type { Drawing } from '../text/drawing.ts';
import { type LogicalLine, plain, proseLine, toned } from '../text/line.ts';
import type { HistoryItem } from '../view/history-item.ts';

/** A cause in two or three words, with its code. */
export function causeOf(failure: ModelFailure): string {
  const code = failure.status === undefined ? '' : ` (${failure.status})`;
  return `${CAUSES[failure.kind]}${code}`;
}

const CAUSES: Readonly<Record<FailureKind, string>> = {
  aborted: 'stopped',
  stalled: 'the answer stopped coming',
  cut: 'the answer broke off',
  overloaded: 'overloaded',
  rate_limited: 'too many requests',
  too_long: 'the conversation is too long',
  media_too_large: 'a file is too large',
  output_limit: 'the answer was too long',
  auth: 'the key was refused',
  not_found: 'the model was not found',
  invalid: 'the request was refused',
  refused: 'the model declined',
  server: 'the server failed',
  network: 'no connection',
};

const ADVICE: Readonly<Partial<Record<FailureKind, string>>> = {
  auth: 'Nothing was sent again. Set ANTHROPIC_API_KEY to a key that is valid, or try --model demo.',
  not_found: 'Choose another model with /model.',
  invalid: 'Nothing was sent again.',
  cut: 'Press enter to go on.',
  stalled: 'Press enter to go on.',
  too_long: 'Make room with /compact.',
  overloaded: 'Press enter on an earlier message to try again, or choose another model with /model.',
};

const PLACES = {
  returned: 'Your message is kept below: press enter to try again.',
  waits: 'Press w to wait until then: it goes on by itself. Enter tries now.',
  kept: 'Your message stays in the conversation and goes out with the next one.',
} as const;

/** An error that nothing could be done about: what happened, then what can be done. */
export function failureLines(
  { failure, words }: Extract<HistoryItem, { kind: 'failure' }>,
  { glyphs }: Drawing,
): readonly LogicalLine[] {
  const said = sanitizeScreen(failure.message).split('\n', 1)[0] ?? '';
  // Most failures name their code themselves.
  const isWhole = failure.status !== undefined && said.includes(`(${failure.status})`);
  const head = isWhole ? said : `${causeOf(failure)}: ${said}`;
  const place = words === undefined ? [] : [PLACES[words]];
  const advice = [ADVICE[failure.kind] ?? [], place].flat().join(' ');
  return [
    proseLine(toned('error', `${glyphs.failed} ${head.charAt(0).toUpperCase()}${head.slice(1)}`)),
    ...(advice === '' ? [] : [{ ...proseLine(plain(advice)), indent: 2 }]),
  ];
}
