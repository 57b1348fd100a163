import { expect, test } from 'vitest';
import type { RunOptions } from '../../src/contracts/face/run-options.ts';
import { mergeVerdicts } from '../../src/hooks/merge-verdicts.ts';
import { createOpeningHook } from '../../src/hooks/opening-hook.ts';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { createTempProject } from '../support/temp-project.ts';

test('hooks of the start run before anything is said, once, and what they say goes with the first prompt', async () => {
  await using project = await createTempProject();
  const command = 'cat >> heard.jsonl; echo The tide is high.';
  const settings = { hooks: { SessionStart: [{ hooks: [{ type: 'command', command }] }] } };
  await project.write('../home/.ouro/settings.json', JSON.stringify(settings));
  await using api = await startApiServer({ turns: () => says('Fine.') });
  const open = (more: Partial<RunOptions> = {}) => composed(project, api.url, { face: 'screen', ...more });
  const heard = async () =>
    (await project.read('heard.jsonl').catch(() => ''))
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [/"source":"(\w+)"/.exec(line)?.[1]]));
  const { conversation, close } = await open();
  conversation.begin?.();
  await expect.poll(heard).toEqual(['startup']);
  conversation.begin?.();
  await conversation.agent.prompt('go');
  await conversation.agent.prompt('on');
  const told = api.requests().map(({ raw }) => raw.split('The tide is high.').length - 1);
  expect(told).toEqual([1, 1]);
  await close();
  const again = await open({ session: { kind: 'resume', wanted: conversation.agent.sessionId, fork: 'same' } });
  await again.conversation.agent.prompt('back');
  expect(await heard()).toEqual(['startup', 'resume']);
  await again.close();
  const careful = await open({ trust: undefined });
  expect(careful.conversation.begin).toBeUndefined();
  await careful.close();
});

test('who stops waiting for the hooks of the start stops them, and is not asked to wait again', async () => {
  let stopped = 0;
  const opening = createOpeningHook(
    {
      fire: (_event, _fields, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            stopped += 1;
            resolve(mergeVerdicts([]));
          });
        }),
    },
    { source: 'startup' },
    async () => undefined,
  );
  opening.begin();
  const leaving = new AbortController();
  const waiting = opening.context(leaving.signal);
  leaving.abort();
  expect(await waiting).toBeUndefined();
  expect(await opening.context(new AbortController().signal)).toBeUndefined();
  expect(stopped).toBe(1);
  await opening.close();
});
