import { expect, test } from 'vitest';
import { convertCommand } from '../../../src/extensions/foreign/convert-commands.ts';

test('what has the same meaning stays, the rest is named', async () => {
  const source = '---\ndescription: Say "it"\nargument-hint: "[who]"\nmodel: gpt-6\nagent: build\n---\nSay it to $1.\n';
  expect(await convertCommand(source, 'markdown')).toEqual({
    text: '---\ndescription: "Say \\"it\\""\nargument-hint: "[who]"\n---\n\nSay it to $1.\n',
    lost: ['model', 'agent'],
  });
  expect(await convertCommand('Only a text.\n', 'markdown')).toEqual({ text: 'Only a text.\n', lost: [] });
});

test('places for input become arguments', async () => {
  expect((await convertCommand(`Look at \${input:file:which file} and \${input:x}`, 'copilot')).text).toBe(
    'Look at $ARGUMENTS and $ARGUMENTS\n',
  );
  expect((await convertCommand('prompt = "Say {{args}}: !{date} @{a.md}"', 'toml')).text).toBe(
    'Say $ARGUMENTS: !`date` @a.md\n',
  );
  await expect(convertCommand('name = "no prompt"', 'toml')).rejects.toThrow();
});
