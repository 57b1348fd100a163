import { expect, test } from 'vitest';
import { NO_KEY } from '../../src/model/choose-port.ts';
import { discoverLocalServers } from '../../src/model/discovery.ts';
import { explainNoModel } from '../../src/model/explain-no-model.ts';
import { startOpenAiServer } from '../support/openai-server.ts';

test('without a key a server of this machine is named with the words to use it', async () => {
  await using server = await startOpenAiServer({ turns: [] });
  const places = [
    { name: 'Ollama', prefix: 'ollama', port: Number(new URL(server.url).port) },
    { name: 'Nobody', prefix: 'nobody', port: 1 },
  ];
  const { problem } = await explainNoModel(NO_KEY, () => discoverLocalServers({ places }));
  expect(problem).toBe(`${NO_KEY}\nOllama answers on this machine: --model ollama/qwen3:8b`);
});

test('any other problem is told as it is, and nobody is asked', async () => {
  const discover = async () => expect.unreachable();
  expect(await explainNoModel('The setting is wrong.', discover)).toEqual({
    ok: false,
    problem: 'The setting is wrong.',
  });
});
