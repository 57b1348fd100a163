import { expect, test } from 'vitest';
import { query } from '../src/engine/query.ts';
import { drain } from './support/drain.ts';
import { invariantBreaches } from './support/invariants.ts';
import {
  calls,
  cutOff,
  empty,
  fails,
  historyOf,
  malformedCall,
  overloaded,
  pauses,
  refusal,
  says,
  scripted,
  tooLong,
  userSays,
} from './support/scripted.ts';

const REPLIES = {
  fine: () => says('fine'),
  call: () => calls('Echo'),
  cutOff,
  tooLong,
  overloaded,
  refusal,
  pause: pauses,
  empty,
  malformed: malformedCall,
  streamCut: () => fails('cut'),
};

/** How a script of these may end. */
const ENDS = ['completed', 'max_output_tokens', 'prompt_too_long', 'refusal', 'api_error'];

/** Four scripted replies, then fine ones: every hook objection (8 per refill), resumption (3) and pause (10) fits. */
const MOST_MODEL_CALLS = 60;

type Word = keyof typeof REPLIES;

const WORDS = Object.keys(REPLIES).filter((word): word is Word => word in REPLIES);
const LONGEST = 4;

/**
 * Every script of `LONGEST` replies; a shorter one is the same script with fine replies behind it.
 * A run that ended early never looked at the rest of its script: all scripts that begin like it are that very run.
 */
async function playAll(play: (script: readonly Word[]) => Promise<number>): Promise<number> {
  let decided = 0;
  const walk = async (start: readonly Word[]): Promise<void> => {
    const whole = [...start, ...Array<Word>(LONGEST - start.length).fill('fine')];
    const used = Math.min(LONGEST, await play(whole));
    for (let at = start.length; at < used; at += 1) {
      for (const word of WORDS) if (word !== 'fine') await walk([...whole.slice(0, at), word]);
    }
    decided += WORDS.length ** (LONGEST - used);
  };
  await walk([]);
  return decided;
}

for (const objects of ['always', 'never'] as const) {
  for (const chain of [['model-a'], ['model-a', 'model-b']]) {
    test(`every script of up to 4 replies ends when hooks object ${objects} and the chain is ${chain.join(' then ')}`, async () => {
let most = 0;
      const problems: string[] = [];
      const decided = await playAll(async (script) => {
        const deps = scripted(
          script.map((word) => REPLIES[word]()),
          {
            config: { chain: chain.map((model) => ({ model })) },
            ...(objects === 'always' ? { onStop: async () => ({ kind: 'object', words: 'not yet' }) as const } : {}),
          },
        );
        const first = [userSays('do it')];
        const { events, result } = await drain(query(first, deps, new AbortController().signal));
        most = Math.max(most, deps.calls());
        const breaches = deps.requests().flatMap((request) => invariantBreaches(request));
        const history = historyOf(first, events);
        if (!ENDS.includes(result.reason) || breaches.length > 0 || history.length === 0) {
          problems.push(`${script.join(' ')}: ${result.reason} ${breaches.join('; ')}`);
        }
return deps.calls();
      });
expect(problems).toEqual([]);
      expect(decided).toBe(WORDS.length ** LONGEST);
      expect(most).toBeLessThanOrEqual(MOST_MODEL_CALLS);
    });
  }
}
