import { expect, test } from 'vitest';
import type { CliRunOptions } from '../../src/contracts/frontend/cli-run-options.ts';
import { mergeHookResults } from '../../src/hooks/run-hook.ts';
import { createSessionStartHooks } from '../../src/hooks/session-start.ts';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { createTempProject } from '../support/temp-project.ts';

test('SessionStart hooks run once before the first prompt, and their output is added to it', async () => {
  await using project = await createTempProject();
  const command = 'cat >> heard.jsonl; echo The tide is high.';
  const settings = { hooks: { SessionStart: [{ hooks: [{ type: 'command', command }] }] } };
  await project.write('../home/.ouro/settings.json', JSON.stringify(settings));
  await using api = await startApiServer({ turns: () => says('Fine.') });
  const open = (more: Partial<CliRunOptions> = {}) => composed(project, api.url, { frontend: 'screen', ...more });
  const received = async () =>
    (await project.read('heard.jsonl').catch(() => ''))
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [/"source":"(\w+)"/.exec(line)?.[1]]));
  const { conversation, close } = await open();
  conversation.runStartHooks?.();
  await expect.poll(received).toEqual(['startup']);
  conversation.runStartHooks?.();
  await conversation.agent.prompt('go');
  await conversation.agent.prompt('on');
  const reported = api.requests().map(({ raw }) => raw.split('The tide is high.').length - 1);
  expect(reported).toEqual([1, 1]);
  await close();
  const again = await open({ session: { kind: 'resume', wanted: conversation.agent.sessionId, fork: 'same' } });
  await again.conversation.agent.prompt('back');
  expect(await received()).toEqual(['startup', 'resume']);
  await again.close();
  const careful = await open({ trust: undefined });
  expect(careful.conversation.runStartHooks).toBeUndefined();
  await careful.close();
});

test('an aborted wait ends the SessionStart hooks, and is not repeated', async () => {
  let stopped = 0;
  const opening = createSessionStartHooks(
    {
      fire: (_event, _fields, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            stopped += 1;
            resolve(mergeHookResults([]));
          });
        }),
    },
    { source: 'startup' },
    async () => undefined,
  );
  opening.start();
  const leaving = new AbortController();
  const waiting = opening.onPrompt('', leaving.signal);
  leaving.abort();
  expect(await waiting).toEqual({ kind: 'go' });
  expect(await opening.onPrompt('', new AbortController().signal)).toEqual({ kind: 'go' });
  expect(stopped).toBe(1);
  await opening.close();
});
