import { expect, test } from 'vitest';
import { says } from '../../support/api/reply.ts';
import { type Script, startApiServer } from '../../support/api/server.ts';
import { composed } from '../../support/composed.ts';
import { someOf } from '../../support/runs.ts';
import { createTempProject } from '../../support/temp-project.ts';

async function suggested(settings: object, guess: string) {
  await using project = await createTempProject();
  await project.write('../home/.ouro/settings.json', JSON.stringify(settings));
  const seen: string[] = [];
  const side: Script['side'] = ({ raw }) => {
    if (!raw.includes('most likely say next')) return undefined;
    seen.push(raw);
    return says(guess);
  };
  await using server = await startApiServer({ turns: () => says('The parser is done.'), side });
  const made = await composed(project, server.url, { frontend: 'screen' });
  try {
    await made.conversation.agent.prompt('write a parser');
    await made.conversation.agent.waitForIdle();
    const next = await made.conversation.suggestNextPrompt?.();
    return { next, asked: seen };
  } finally {
    await made.close();
  }
}

test('the small model suggests a next step only if enabled, based on the last messages', async () => {
  const { next, asked } = await suggested({ promptSuggestions: true }, '"now write its tests"\n');
  expect(next).toBe('now write its tests');
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain('write a parser');
  expect(asked[0]).toContain('The parser is done.');
  expect(await suggested({}, 'now write its tests')).toEqual({ next: undefined, asked: [] });
});

test.each(someOf(['!rm -rf /', '/clear', '# keep this', 'x'.repeat(200), '\u202e\u200b'], 2))(
  'a suggestion that could run a command or is unreadable is not offered: %j',
  async (guess) => {
    expect((await suggested({ promptSuggestions: true }, guess)).next).toBeUndefined();
  },
);
