import { expect, test } from 'vitest';
import { describeUnknownTool, findTool } from '../../../src/engine/tool-calls/find-tool.ts';
import { createAllTools } from './all-tools.ts';
import { ODD_CALLS } from './odd-calls.ts';

const tools = createAllTools();

/** What becomes of a call: the call that is made, or the error that the model reads. */
function resolveCall([name, input]: (typeof ODD_CALLS)[number]): string {
  const tool = findTool({ name, input }, tools);
  if (tool === undefined)
    return `✗ ${describeUnknownTool(name, tools).replace(/The tools are: .*/, 'The tools are: …')}`;
  const prepared = tool.prepare(input);
  if (!prepared.ok) return `✗ ${prepared.problem}`;
  const steps = prepared.call.steps?.map((step) => `${step.tool} ${JSON.stringify(step.input)}`);
  return steps?.join('\n    ') ?? `${tool.name} ${JSON.stringify(prepared.call.input)}`;
}

test('each odd call works as intended, or its error names the right form', async () => {
  const lines = ODD_CALLS.map((call) => `${call[0]} ${JSON.stringify(call[1])}\n  → ${resolveCall(call)}\n`);
  await expect(lines.join('')).toMatchFileSnapshot('odd-calls.golden.txt');
});
