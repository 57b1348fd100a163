import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decideCall } from '../../../src/sdk/permission-gates.ts';
import { createTempFolder } from '../../support/temp-folder.ts';
import { createAllTools } from '../input/all-tools.ts';

const cwd = createTempFolder();
mkdirSync(join(cwd, 'src'));

/** The decision about a command with a folder, as the gate makes it about the call that runs. */
function decide(command: string, workdir: string): string {
  const bash = createAllTools().find(({ name }) => name === 'Bash');
  const prepared = bash?.prepare({ command, workdir });
  if (prepared?.ok !== true) throw new Error('The call is invalid.');
  const rules = { cwd, allow: ['Bash(npm test:*)'], deny: ['Bash(rm:*)', 'Read(/etc/shadow)'] };
  return decideCall(rules, { tool: 'Bash', input: prepared.call.input }).verdict;
}

test.each([
  ['ls', 'src', 'allow'],
  ['npm test -- auth', 'src', 'allow'],
  ['npm test\nls', 'src', 'allow'],
  ['touch a', 'src', 'ask'],
  ['ls', '/root', 'ask'],
  ['rm a', 'src', 'deny'],
  ['ls; rm a', 'src', 'deny'],
  ['ls', 'src; rm a', 'allow'],
  ['ls', "src' && rm a '", 'allow'],
  ['cat shadow', '/etc', 'deny'],
])('%j in the folder %j: %s', (command, workdir, verdict) => {
  expect(decide(command, workdir)).toBe(verdict);
});
