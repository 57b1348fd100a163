import { createClaudeCode } from 'ai-sdk-provider-claude-code';
import { expect } from 'vitest';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { bareEnvironment } from '../support/environment.ts';
import { longTest } from '../support/long-test.ts';
import { LAUNCHER } from '../support/run-ouro.ts';
import { createTempProject } from '../support/temp-project.ts';

longTest('the provider of the AI SDK drives ouro unchanged', async () => {
  await using project = await createTempProject();
  const server = await startApiServer({ turns: [says('Hello from a model.')] });
  const provider = createClaudeCode({
    defaultSettings: {
      pathToClaudeCodeExecutable: LAUNCHER,
      cwd: project.dir,
      env: bareEnvironment(project, server.url),
    },
  });
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }];
  const answer = await provider('sonnet').doGenerate({ prompt });
  expect(answer).toMatchObject({
    content: [{ type: 'text', text: 'Hello from a model.' }],
    finishReason: { unified: 'stop' },
  });
  await server.close();
});
