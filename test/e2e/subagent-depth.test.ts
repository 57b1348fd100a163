import { expect, test } from 'vitest';
import { calls, says, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { runHere } from '../support/run-here.ts';
import { createTempProject } from '../support/temp-project.ts';

test('sub-agents that always start another one end', async () => {
  await using project = await createTempProject();
  let calledBy = 0;
  await using api = await startApiServer({
    turns: ({ raw, body }) => {
      const mayStart = JSON.stringify(body.tools).includes('"name":"Task"');
      if (!mayStart || raw.includes('"tool_result"')) return says('Back again.');
      calledBy += 1;
      const order = { description: 'Deeper', prompt: 'Go deeper', subagent_type: 'general-purpose' };
      return calls(toolUse('Task', order, `toolu_${calledBy}`));
    },
  });
  const { code, stdout } = await runHere(project, ['-p', 'go', '--allowedTools', 'Task'], api.url);
  expect([code, stdout]).toEqual([0, 'Back again.\n']);
  expect(calledBy).toBeLessThan(4);
  expect(api.requests().length).toBe(2 * calledBy + 1);
});
