import { expect, test } from 'vitest';
import { readEnvironment } from '../../src/app/environment.ts';
import { resolveScreenOptions } from '../../src/cli/modes/interactive/screen-options.ts';
import type { Conversation } from '../../src/contracts/frontend/conversation.ts';
import { openScreen } from '../../src/ui/open-screen.ts';
import { says } from '../support/api/reply.ts';
import { startApiServer } from '../support/api/server.ts';
import { composed } from '../support/composed.ts';
import { createTempProject } from '../support/temp-project.ts';

test('a key press does not query the conversation; only the slash menu lists the commands', async () => {
  await using project = await createTempProject();
  await using api = await startApiServer({ turns: () => says('Fine.') });
  const { conversation, close } = await composed(project, api.url, { frontend: 'screen' });
  const used: (string | symbol)[] = [];
  const watched: Conversation = new Proxy(conversation, {
    get(target, name, receiver) {
      used.push(name);
      return Reflect.get(target, name, receiver);
    },
  });
  const keys: ((chunk: string) => void)[] = [];
  let frames: PromiseWithResolvers<void> = Promise.withResolvers();
  const nothing = () => undefined;
  const terminal = {
    out: {
      columns: 80,
      rows: 24,
      write: (text: string) => {
        if (text.includes('\u001b[?2026l')) frames.resolve();
      },
      on: nothing,
      off: nothing,
    },
    in: {
      setRawMode: nothing,
      setEncoding: nothing,
      on: (_: 'data', listener: (chunk: string) => void) => keys.push(listener),
      off: nothing,
      resume: nothing,
      pause: nothing,
    },
  };
  const options = resolveScreenOptions(readEnvironment({ TERM: 'xterm', HOME: project.dir }), {
    prompt: undefined,
    typed: '',
  });
  const screen = openScreen(watched, terminal, options);
  await frames.promise;
  const press = async (key: string) => {
    used.length = 0;
    frames = Promise.withResolvers();
    for (const onKey of keys) onKey(key);
    await frames.promise;
    return new Set(used);
  };
  expect([...(await press('a'))]).toEqual(['draft']);
  expect([...(await press('\u007f'))]).toEqual(['draft']);
  expect([...(await press('/'))].sort()).toEqual(['commands', 'draft']);
  screen.close();
  // The draft is written in the background.
  await conversation.draft.clear();
  await close();
});
