import { expect, test } from 'vitest';
import { convertForeignCommand, convertOpencodeCommands } from '../../src/files/convert-foreign-command.ts';

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

test('variables without a value here are named', async () => {
  const { lost } = await convertForeignCommand(`See \${file}, \${input:x} and \${file}`, 'copilot');
  expect(lost).toEqual([`the values of \${file}`]);
  expect((await convertForeignCommand('On $BRANCH, $1, $ARGUMENTS for $$50', 'codex')).lost).toEqual([
    'the values of $BRANCH',
  ]);
});

test('the commands in a configuration of opencode are taken one by one', () => {
  const config = '{ "command": { "git/ship": { "template": "Ship $1", "description": "Ships", "agent": "build" } }, }';
  expect([...convertOpencodeCommands(config)]).toEqual([
    ['git/ship', { text: '---\ndescription: "Ships"\n---\n\nShip $1\n', lost: ['agent'] }],
  ]);
  expect([...convertOpencodeCommands('')]).toEqual([]);
  expect(() => convertOpencodeCommands('{ "command": { "../x": { "template": "t" } } }')).toThrow();
});
