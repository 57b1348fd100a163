import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/contracts/json.ts';
import { readLegacyDenial } from '../../../src/session/resume/recorded-facts.ts';

const DEFAULT_TEXT = 'The user refused this call. Ask what they would rather have, or go another way.';

test.each<[string, JsonValue, string, object]>([
  ['the words of the user', [{ text: 'The answer was no: not yet' }], 'not yet', { by: 'user', reason: 'not yet' }],
  ['no words', [{ text: `The answer was no: ${DEFAULT_TEXT}` }], DEFAULT_TEXT, { by: 'user', reason: '' }],
  [
    'a rule',
    [{ text: 'rm x is denied by Bash(rm:*).' }],
    'Bash was not run. rm x is denied by Bash(rm:*).',
    { by: 'rule', reason: 'rm x is denied by Bash(rm:*).' },
  ],
  [
    'a run without a user',
    [{ text: 'This run cannot ask for approval, so it is denied.' }],
    'Bash needs permission and was not run. No rule allows it.',
    { by: 'rule', reason: 'No rule allows it.' },
  ],
  ['an unreadable trace', 5, 'No.', { by: 'rule', reason: 'No.' }],
])('denials of old sessions by %s are recognized by their sentences', (_, trace, content, denial) => {
  const decision = { ...RECORD, type: 'permission', callId: 'c', tool: 'Bash', verdict: 'deny', trace } as const;
  expect(readLegacyDenial(decision, { type: 'tool_result', tool_use_id: 'c', content })).toEqual(denial);
});

const RECORD = {
  v: 1,
  uuid: 'u',
  parentUuid: null,
  sessionId: 's',
  timestamp: '',
  cwd: '/',
  version: '0.1.0',
} as const;
