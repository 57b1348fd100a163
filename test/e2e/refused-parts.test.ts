import { expect, test } from 'vitest';
import type { SeenRequest } from '../support/api/dialect.ts';
import { startOpenAiServer } from '../support/api/openai-server.ts';
import { type ApiTurn, calls, says, status, toolUse } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { longTest } from '../support/long-test.ts';
import { runHere } from '../support/run-here.ts';
import { someOf } from '../support/runs.ts';
import { replayAll } from '../support/stored-sessions.ts';
import { createTempProject } from '../support/temp-project.ts';

const FILES = { 'a.txt': 'what a file holds\n', 'b.txt': 'what no provider bears\n' };
const fine = says('All is well here.');
const look = calls(toolUse('Read', { file_path: 'a.txt' }), toolUse('Read', { file_path: 'b.txt' }));

/** The place of the first block that holds these words, as the provider names it. */
function placeOf({ body }: SeenRequest, words: string): string | undefined {
  for (const [at, { content }] of (body.messages ?? []).entries()) {
    const index = Array.isArray(content) ? content.findIndex((block) => JSON.stringify(block).includes(words)) : -1;
    if (index !== -1) return `messages.${at}.content.${index}`;
  }
  return undefined;
}

/** Bears everything but these words. */
const picky =
  (words: string, say: (place: string) => ApiTurn) =>
  (request: SeenRequest, index: number): ApiTurn => {
    const place = placeOf(request, words);
    if (place !== undefined) return say(place);
    return index === 0 ? look : fine;
  };

test.concurrent.each<[string, string, (place: string) => ApiTurn]>(
  someOf<[string, string, (place: string) => ApiTurn]>(
    [
      ['result', 'no provider bears', (place) => status(400, `${place}.tool_result: Input should be something else`)],
      [
        'call',
        '{"file_path":"b.txt"}',
        (place) => status(400, `${place}.tool_use.input: Extra inputs are not permitted`),
      ],
      [
        'message',
        'no provider bears',
        (place) => status(400, `${place.replace(/\.content.*/, '')}: is not as it should be`),
      ],
      ['result, said by a gateway', 'no provider bears', (place) => status(500, `upstream: invalid: ${place}: no`)],
    ],
    1,
  ),
)('a %s that a provider rejects is omitted, and the session continues', async (_, words, say) => {
  await using project = await createTempProject(FILES);
  await using server = await startApiServer({ turns: picky(words, say) });
  const first = await runHere(project, ['-p', 'look', '--verbose'], server.url);
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('All is well here.') });
  expect(first.stderr).toContain('The provider rejected a part of the request');
  expect(server.requests()).toHaveLength(3);
  const resumed = await runHere(project, ['-p', '--continue', 'and now?'], server.url);
  expect(resumed).toMatchObject({ code: 0, stdout: 'All is well here.\n' });
  expect(server.requests().flatMap(({ violation }) => violation ?? [])).toEqual([]);
  expect(await replayAll(project)).toEqual({ requests: 5, different: [] });
});

longTest.concurrent('a tool that a provider rejects is no longer sent', async () => {
  await using project = await createTempProject(FILES);
  await using server = await startApiServer({
    turns: ({ body }) => {
      const tools = Array.isArray(body.tools) ? body.tools : [];
      const at = tools.findIndex((tool) => JSON.stringify(tool).includes('"name":"Glob"'));
      return at === -1 ? fine : status(400, `tools.${at}.custom.input_schema: JSON schema is invalid`);
    },
  });
  const { code, stderr } = await runHere(project, ['-p', 'look', '--verbose'], server.url);
  expect(code).toBe(0);
  expect(stderr).toContain('the tool Glob');
  expect(await replayAll(project)).toEqual({ requests: 2, different: [] });
});

longTest.concurrent('chat completions report rejected messages by index', async () => {
  await using project = await createTempProject(FILES);
  await using server = await startOpenAiServer({
    turns: ({ body }, index) => {
      const at = body.messages?.findIndex((message) => JSON.stringify(message).includes('no provider bears')) ?? -1;
      if (at !== -1) return status(400, `Invalid 'messages[${at}].content': not this.`);
      return index === 0 ? look : fine;
    },
  });
  const { code, stdout } = await runHere(project, ['-p', 'look', '--model', `${server.url}/v1#qwen3:8b`]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'All is well here.\n' });
  expect(server.requests().at(-1)?.raw).toContain('what a file holds');
});
