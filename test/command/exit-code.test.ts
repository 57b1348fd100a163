import { expect, test } from 'vitest';
import { createRunResultCollector } from '../../src/cli/stream-json/run-result.ts';
import { getExitCode } from '../../src/command/exit-code.ts';
import type { Terminal } from '../../src/contracts/terminal-reason.ts';
import { fakeConversation } from '../support/loop/fake-conversation.ts';

/** Every way a run can end: a new one does not compile until it stands here. */
const STORIES: Readonly<Record<Terminal['reason'], readonly [code: number, subtype: string]>> = {
  completed: [0, 'success'],
  stop_hook_prevented: [0, 'success'],
  hook_stopped: [0, 'success'],
  max_turns: [1, 'error_max_turns'],
  budget_exhausted: [1, 'error_max_budget_usd'],
  structured_output_failed: [1, 'error_max_structured_output_retries'],
  max_output_tokens: [1, 'success'],
  prompt_too_long: [1, 'success'],
  blocking_limit: [1, 'success'],
  image_error: [1, 'success'],
  refusal: [1, 'success'],
  api_error: [1, 'success'],
  model_error: [1, 'error_during_execution'],
  loop_detected: [3, 'error_during_execution'],
  aborted_streaming: [130, 'error_during_execution'],
  aborted_tools: [130, 'error_during_execution'],
};

test.each(Object.entries(STORIES))('%s has its own exit code, subtype and message', (name, [code, subtype]) => {
  const reason = Object.keys(STORIES).find((one): one is Terminal['reason'] => one === name) ?? 'completed';
  const result = createRunResultCollector(fakeConversation(), () => 0).createResultLine({ reason });
  expect({ code: getExitCode({ reason }, undefined), subtype: result.subtype }).toEqual({ code, subtype });
  // Nobody is told of success by one and of failure by the other.
  expect(result.is_error).toBe(code !== 0);
  if (code !== 0) expect(result.errors).toEqual([`The run ended: ${reason}.`]);
  expect('result' in result).toBe(subtype === 'success');
});

test.each([
  ['user', 130],
  ['sigint', 130],
  ['sigterm', 143],
  ['sighup', 129],
] as const)('a run stopped by %s ends with %d', (by, code) => {
  expect(getExitCode({ reason: 'aborted_tools' }, by)).toBe(code);
});
