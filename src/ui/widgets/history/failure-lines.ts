import type { FailureKind, ModelFailure } from '../../../contracts/model.ts';
import { sanitizeForScreen } from '../../../lib/text/sanitize.ts';
import { colored, createProseLine, type LogicalLine, plain } from '../../text/line.ts';
import type { RenderContext } from '../../text/render-context.ts';
import type { HistoryItem } from './history-item.ts';

/** Describes the cause of a failure in a few words, with its status code. */
export function describeRunFailure(failure: ModelFailure): string {
  const code = failure.status === undefined ? '' : ` (${failure.status})`;
  return `${CAUSES[failure.kind]}${code}`;
}

const CAUSES: Readonly<Record<FailureKind, string>> = {
  aborted: 'stopped',
  stalled: 'the reply stalled',
  cut: 'the reply was cut off',
  overloaded: 'overloaded',
  rate_limited: 'too many requests',
  too_long: 'the conversation is too long',
  media_too_large: 'a file is too large',
  output_limit: 'the reply was too long',
  auth: 'the API key was rejected',
  no_credit: 'no credit is left',
  not_found: 'the model was not found',
  invalid: 'the request was rejected',
  refused: 'the model refused',
  server: 'server error',
  network: 'no connection',
};

const ADVICE: Readonly<Partial<Record<FailureKind, string>>> = {
  auth: 'The request was not retried. Set a valid key with /login or ANTHROPIC_API_KEY, or choose another model with /model.',
  no_credit: 'The request was not retried. Add credit at the provider, or choose another model with /model.',
  not_found: 'Choose another model with /model.',
  invalid: 'The request was not retried.',
  cut: 'Press enter to continue.',
  stalled: 'Press enter to continue.',
  too_long: 'Run /compact to shorten the conversation.',
  overloaded: 'Send the message again, or choose another model with /model.',
};

const MESSAGE_STATES = {
  in_composer: 'Your message is back in the draft: press enter to send it again.',
  waiting_for_reset: 'Press w to wait for the reset and continue automatically, or enter to try now.',
  in_conversation: 'Your message stays in the conversation and is sent with the next one.',
} as const;

/** Renders a failure that ended the run: its cause, then advice. */
export function renderRunFailure(
  { failure, messageState: words }: Extract<HistoryItem, { kind: 'failure' }>,
  { glyphs }: RenderContext,
): readonly LogicalLine[] {
  const message = sanitizeForScreen(failure.message).split('\n', 1)[0] ?? '';
  // Most messages already contain the status code.
  const hasCode = failure.status !== undefined && message.includes(`(${failure.status})`);
  const head = hasCode ? message : `${describeRunFailure(failure)}: ${message}`;
  const messageState = words === undefined ? [] : [MESSAGE_STATES[words]];
  const advice = [ADVICE[failure.kind] ?? [], messageState].flat().join(' ');
  return [
    createProseLine(colored('error', `${glyphs.failed} ${head.charAt(0).toUpperCase()}${head.slice(1)}`)),
    ...(advice === '' ? [] : [{ ...createProseLine(plain(advice)), indent: 2 }]),
  ];
}
