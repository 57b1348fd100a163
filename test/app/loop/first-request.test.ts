import { expect, test } from 'vitest';
import { says } from '../../support/api/reply.ts';
import { startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { createTempProject } from '../../support/temp-project.ts';

/** The first request of a conversation, and its tools by name. */
async function loadFirstRequest() {
  const project = await createTempProject({ 'a.txt': 'alpha\n' });
  await using server = await startApiServer({ turns: [says('Hello.')] });
  const { conversation, close } = await composed(project, server.url, { frontend: 'screen' });
  await conversation.agent.prompt('Hi');
  await close();
  await project.remove();
  const raw = server.requests()[0]?.raw ?? '';
  const tools: readonly { readonly name: string; readonly description: string; readonly input_schema: object }[] =
    JSON.parse(raw).tools;
  return { raw, tools };
}

test('the first request fits into 13 KB, with an example for each tool that takes several arguments', async () => {
  const { raw, tools } = await loadFirstRequest();
  expect(raw.length).toBeLessThan(13_000);
  const withoutExample = tools.filter(({ name, description }) => !description.includes(`${name}{`));
  const simple = ['BashOutput', 'EnterPlanMode', 'ExitPlanMode', 'KillShell', 'WebSearch'];
  expect(withoutExample.map(({ name }) => name).filter((name) => !simple.includes(name))).toEqual([]);
});

test('rarely used tools are sent by name only, and sandbox arguments only when there is a sandbox', async () => {
  const { tools } = await loadFirstRequest();
  const find = (name: string) => tools.find((tool) => tool.name === name);
  expect(find('ToolSearch')?.description).toContain(
    'Known by name: EnterPlanMode, MultiEdit, NotebookEdit, SendMessage',
  );
  expect(tools.map(({ name }) => name)).not.toContain('NotebookEdit');
  expect(JSON.stringify(find('Bash')?.input_schema)).not.toContain('sandbox');
});
