import type { JsonObject } from '../../contracts/json.ts';
import type { Message } from '../../contracts/message.ts';
import type { QueryDeps } from '../../contracts/query.ts';

const MOST_REMINDERS = 5;
const REMINDER = 'The answer must be given by calling StructuredOutput, once, with the complete answer. Call it now.';

/** Where an answer has to fit a schema, words alone are no end: the model is reminded, a bounded number of times. */
export function requireAnswer(schema: JsonObject | undefined, onStop: QueryDeps['onStop']): QueryDeps['onStop'] {
  if (schema === undefined) return onStop;
  return async (facts, signal) => {
    const verdict = await onStop(facts, signal);
    if (verdict.kind !== 'pass' || remindersIn(facts.messages) >= MOST_REMINDERS) return verdict;
    return { kind: 'object', words: REMINDER };
  };
}

/** Since the last prompt. */
function remindersIn(messages: readonly Message[]): number {
  const from = messages.findLastIndex((message) => message.role === 'user' && message.origin === 'prompt');
  return messages
    .slice(from + 1)
    .flatMap((message) => (message.role === 'user' ? message.blocks : []))
    .filter((block) => block.type === 'text' && block.text.includes(REMINDER)).length;
}
