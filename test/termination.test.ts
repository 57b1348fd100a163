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

/** Four scripted replies, then fine ones: every hook objection (8 per refill), resumption (3) and pause (10) fits. */
const MOST_MODEL_CALLS = 60;

type Word = keyof typeof REPLIES;

function* scripts(longest: number): Generator<readonly Word[]> {
  const words = Object.keys(REPLIES).filter((word): word is Word => word in REPLIES);
  let level: readonly (readonly Word[])[] = [[]];
  for (let length = 1; length <= longest; length += 1) {
    level = level.flatMap((script) => words.map((word) => [...script, word]));
    yield* level;
  }
}

for (const objects of ['always', 'never'] as const) {
  for (const chain of [['model-a'], ['model-a', 'model-b']]) {
    test(`every script of up to 4 replies ends when hooks object ${objects} and the chain is ${chain.join(' then ')}`, async () => {
      let most = 0;
      const problems: string[] = [];
      for (const script of scripts(4)) {
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
        if (typeof result.reason !== 'string' || breaches.length > 0 || history.length === 0) {
          problems.push(`${script.join(' ')}: ${result.reason} ${breaches.join('; ')}`);
        }
      }
      expect(problems).toEqual([]);
      expect(most).toBeLessThanOrEqual(MOST_MODEL_CALLS);
    });
  }
}
