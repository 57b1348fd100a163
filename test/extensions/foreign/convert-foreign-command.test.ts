import { expect, test } from 'vitest';
import { convertForeignCommand } from '../../../src/extensions/foreign/convert-foreign-command.ts';

test('what has the same meaning stays, the rest is named', async () => {
  const source = '---\ndescription: Say "it"\nargument-hint: "[who]"\nmodel: gpt-6\nagent: build\n---\nSay it to $1.\n';
  expect(await convertForeignCommand(source, 'markdown')).toEqual({
    text: '---\ndescription: "Say \\"it\\""\nargument-hint: "[who]"\n---\n\nSay it to $1.\n',
    lost: ['model', 'agent'],
  });
  expect(await convertForeignCommand('Only a text.\n', 'markdown')).toEqual({ text: 'Only a text.\n', lost: [] });
});

test('places for input become arguments', async () => {
  expect((await convertForeignCommand(`Look at \${input:file:which file} and \${input:x}`, 'copilot')).text).toBe(
    'Look at $ARGUMENTS and $ARGUMENTS\n',
  );
  expect((await convertForeignCommand('prompt = "Say {{args}}: !{date} @{a.md}"', 'toml')).text).toBe(
    'Say $ARGUMENTS: !`date` @a.md\n',
  );
  await expect(convertForeignCommand('name = "no prompt"', 'toml')).rejects.toThrow();
});
