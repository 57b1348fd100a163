import { expect, test } from 'vitest';
import { analyzeShell } from '../../../../src/permissions/shell/analyze.ts';

test.each(['sleep 0.25', 'ls -la src', 'git status --short', 'grep -rn word . | head -5', 'echo one && echo two'])(
  '%s is concurrency-safe',
  (command) => {
    expect(analyzeShell(command).isReadOnly).toBe(true);
  },
);

test.each([
  'cd src',
  'npm test',
  'echo hi > file',
  'rm -rf build',
  'sleep 5 &',
  'PATH=. ls',
  'cat $(made-up)',
  'git commit -m x',
  "echo 'open",
])('%s runs alone', (command) => {
  expect(analyzeShell(command).isReadOnly).toBe(false);
});
