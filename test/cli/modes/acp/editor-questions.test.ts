import { expect, test } from 'vitest';
import { createAcpPermissionContent } from '../../../../src/cli/modes/acp/editor-questions.ts';
import type { PermissionRequest } from '../../../../src/contracts/permission.ts';

function words(request: Partial<PermissionRequest>): string {
  const whole: PermissionRequest = {
    ...{
      id: 'q',
      callId: 'c',
      toolName: 'Bash',
      title: 'ls',
      reasons: ['ls is not known.'],
      targets: [],
      suggestions: [],
    },
    ...{ facts: { tool: 'Bash', kind: 'shell', command: 'ls', input: { command: 'ls' } }, trace: [] },
    ...{ danger: 'none', concealed: 'none' },
    ...request,
  };
  return createAcpPermissionContent(whole)
    .map((each) => (each.type === 'content' && each.content.type === 'text' ? each.content.text : each.type))
    .join('\n');
}

const shell = (command: string, more: Partial<PermissionRequest['facts']> = {}) =>
  ({ tool: 'Bash', kind: 'shell', command, input: { command }, ...more }) as const;

test.each([
  ['more lines than the title holds', { facts: shell('ls\nrm -rf /') }, ['ls\nrm -rf /']],
  ['a line that hides', { title: 'ls', facts: shell('ls \u202e') }, ['ls <U+202E>']],
  ['the command that wants a host', { title: 'evil.test:443', facts: shell('npm ci', { kind: 'fetch' }) }, ['npm ci']],
  [
    'a place that is to be opened',
    { facts: shell('ls', { opens: ['~/x'] }), reasons: ['It needs to write ~/x.'] },
    ['It needs to write ~/x.'],
  ],
  ['what is to leave the sandbox', { facts: shell('ls', { outside: 'x' }), reasons: ['It needs x.'] }, ['It needs x.']],
  ['why it always asks', { danger: 'breaker', reasons: ['Writing .git always asks.'] }, ['Writing .git always asks.']],
  ['where a path really leads', { targets: [{ path: 'a', real: '/etc/b' }] }, ['a resolves to /etc/b']],
  ['that something hides', { concealed: 'hidden_characters' }, ['It contains invisible characters.']],
  [
    'all of the input of a tool of a server',
    { title: 'do', facts: { tool: 'mcp__s__do', kind: 'mcp', input: { to: 'evil', list: [{ deep: 'x' }] } } },
    ['"to": "evil"', '"deep": "x"'],
  ],
] as const satisfies readonly (readonly [string, Partial<PermissionRequest>, readonly string[]])[])(
  'an editor is told %s',
  (_, request, expected) => {
    const said = words(request);
    expect(expected.filter((text) => !said.includes(text))).toEqual([]);
  },
);

test('content that repeats the title is omitted', () => {
  expect(words({})).toBe('');
});
