import { expect, test } from 'vitest';
import { onlyLooks } from '../../../../src/permissions/bash/certain/only-looks.ts';

test.each(['sleep 0.25', 'ls -la src', 'git status --short', 'grep -rn word . | head -5', 'echo one && echo two'])(
  '%s may run beside others',
  (command) => {
    expect(onlyLooks(command)).toBe(true);
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
  expect(onlyLooks(command)).toBe(false);
});
