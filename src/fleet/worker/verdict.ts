import type { Ending } from '../../contracts/fleet.ts';
import { formatMoney } from '../../lib/text/format.ts';
import { oneLine } from '../../lib/text/one-line.ts';
import { withoutSecrets } from '../../lib/text/secrets.ts';
import type { RunEnd } from './child-lines.ts';
import type { ChildEnd } from './child-run.ts';

/** What came of a run: it can be looked at, or it is over for the task, the lane or the machine. */
export type Verdict =
  | { readonly kind: 'answered'; readonly end: RunEnd }
  | { readonly kind: 'over'; readonly ending: Ending }
  /** Quota or key: the lane rests and the task goes back. */
  | { readonly kind: 'lane rests'; readonly forMs: number; readonly words: string }
  /** Nothing about the task: this machine cannot work. */
  | { readonly kind: 'machine'; readonly words: string };

/** What a provider says when it will not change its mind by itself soon. */
const RESTING: Readonly<Record<number, string>> = {
  401: 'the key was refused',
  402: 'there is no credit left',
  403: 'the key may not do this',
  429: 'the quota is used up',
};
const REST_MS = 300_000;

/** Judges how a run of ouro ended. */
export function verdictOf({ story, code, stderr }: ChildEnd, budget: number): Verdict {
  const { end } = story;
  if (end === undefined) return withoutResult(code, stderr);
  if (!end.isError) return { kind: 'answered', end };
  const words = withoutSecrets(oneLine(end.words));
  const rests = end.apiStatus === undefined ? undefined : RESTING[end.apiStatus];
  if (rests !== undefined)
    return { kind: 'lane rests', forMs: end.retryAfterMs ?? REST_MS, words: `${rests} (${end.apiStatus})` };
  // No terminal: the conversation could not even begin, which no other attempt on this machine will change.
  if (end.terminal === undefined) return { kind: 'machine', words };
  if (end.subtype === 'error_max_budget_usd')
    return failed(`its limit of ${formatMoney(budget / 1e6)} was reached`, 'never');
  if (end.subtype === 'error_max_turns') return failed('its limit of turns was reached', 'never');
  return failed(words, 'if attempts are left');
}

function withoutResult(code: number | null, stderr: string): Verdict {
  const said = withoutSecrets(oneLine(stderr.split('\n').at(-1) ?? ''));
  const words = said === '' ? '' : `: ${said}`;
  // 2 is what ouro ends with when it was started with something it does not understand.
  if (code === 2) return failed(`ouro refused to start${words}`, 'never');
  if (code === 127 || code === 126) return { kind: 'machine', words: `ouro could not be started${words}` };
  return failed(
    `it ended without a result (${code === null ? 'by a signal' : `code ${code}`})${words}`,
    'if attempts are left',
  );
}

function failed(reason: string, again: 'if attempts are left' | 'never'): Verdict {
  return { kind: 'over', ending: { kind: 'failed', reason, again } };
}
