import { expect, test } from 'vitest';
import { query } from '../src/engine/query.ts';
import { findInvariantViolations } from './support/loop/invariants.ts';
import {
  calls,
  contextTooLong,
  empty,
  fails,
  malformedCall,
  overloaded,
  pausedReply,
  refusalReply,
  says,
  scripted,
  truncatedReply,
  userSays,
} from './support/loop/scripted.ts';
import { isWholeRun } from './support/runs.ts';

const REPLIES = {
  fine: () => says('fine'),
  call: () => calls('Echo'),
  truncatedReply,
  contextTooLong,
  overloaded,
  refusalReply,
  pause: pausedReply,
  empty,
  malformed: malformedCall,
  streamCut: () => fails('cut'),
};

/** How a script of these may end. */
const ENDS = ['completed', 'max_output_tokens', 'prompt_too_long', 'refusal', 'api_error'];

/** How many replies the scripts have: fewer as long as somebody waits. */
const LONGEST = isWholeRun ? 4 : 2;

/** Behind the scripted replies: eight objections to the fine ones, and room for as many recoveries. */
const MORE_MODEL_CALLS = 12;

type Word = keyof typeof REPLIES;

const WORDS = Object.keys(REPLIES).filter((word): word is Word => word in REPLIES);

/**
 * Every script of so many replies; a shorter one is the same script with fine replies behind it.
 * `known` says how many of its first requests another script has made already.
 * A run that ended early never looked at the rest of its script: all scripts that begin like it are that very run.
 */
async function playAll(
  longest: number,
  play: (script: readonly Word[], known: number) => Promise<number>,
): Promise<number> {
  let decided = 0;
  const walk = async (start: readonly Word[]): Promise<void> => {
    const whole = [...start, ...Array<Word>(longest - start.length).fill('fine')];
    const used = Math.min(longest, await play(whole, Math.max(0, start.length - 1)));
    for (let at = start.length; at < used; at += 1) {
      for (const word of WORDS) if (word !== 'fine') await walk([...whole.slice(0, at), word]);
    }
    decided += WORDS.length ** (longest - used);
  };
  await walk([]);
  return decided;
}

/**
 * All the loop remembers of its recoveries, told by its trace: what was spent since results refilled the ledger, the
 * last step, the model in use and its output cap. Two runs that agree in this go on alike when they hear the same.
 */
function memoryOf(reasons: readonly string[]): string {
  const spent = reasons.slice(reasons.lastIndexOf('next_turn') + 1).toSorted();
  const model = reasons.filter((reason) => reason === 'fallback_retry').length;
  const isRaised = reasons.lastIndexOf('max_output_tokens_escalate') > reasons.lastIndexOf('fallback_retry');
  return [reasons.at(-1), model, isRaised, ...spent].join(' ');
}

for (const objects of ['always', 'never'] as const) {
  for (const chain of [['model-a'], ['model-a', 'model-b']]) {
    test(`every script of up to ${LONGEST} replies ends when hooks block ${objects} and the chain is ${chain.join(' then ')}`, async () => {
      let most = 0;
      const problems: string[] = [];
      /** How many more requests there were once the script was used up, by what the loop remembered then. */
      const tails = new Map<string, number>();
      const decided = await playAll(LONGEST, async (script, checked) => {
        const deps = scripted(
          script.map((word) => REPLIES[word]()),
          {
            config: { chain: chain.map((model) => ({ model })) },
            ...(objects === 'always' ? { onStop: async () => ({ kind: 'reject', words: 'not yet' }) as const } : {}),
          },
        );
        const run = query([userSays('do it')], deps, new AbortController().signal);
        const reasons: string[] = [];
        const passed: { readonly memory: string; readonly calls: number }[] = [];
        let end = '';
        let known: number | undefined;
        while (end === '' && known === undefined) {
          const step = await run.next();
          if (step.done === true) end = step.value.reason;
          else if (step.value.type === 'transition') {
            reasons.push(step.value.reason);
            if (deps.calls() < script.length) continue;
            const memory = memoryOf(reasons);
            known = tails.get(memory);
            passed.push({ memory, calls: deps.calls() });
          }
        }
        if (known !== undefined) await run.return({ reason: 'completed' });
        const total = deps.calls() + (known ?? 0);
        for (const { memory, calls: before } of passed) tails.set(memory, total - before);
        most = Math.max(most, total);
        const breaches = deps.requests().slice(checked).flatMap(findInvariantViolations);
        if (breaches.length > 0 || (known === undefined && !ENDS.includes(end))) {
          problems.push(`${script.join(' ')}: ${end} ${breaches.join('; ')}`);
        }
        return deps.calls();
      });
      expect(problems).toEqual([]);
      expect(decided).toBe(WORDS.length ** LONGEST);
      expect(most).toBeLessThanOrEqual(LONGEST + MORE_MODEL_CALLS);
      // It only counts, for half a minute on an idle processor.
    }, 600_000);
  }
}
