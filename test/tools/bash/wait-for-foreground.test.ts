import { expect, test } from 'vitest';
import { isLineAskingForInput } from '../../../src/tools/bash/wait-for-foreground.ts';

test.each([
  'Overwrite it? [y/N] ',
  'Proceed ([Y]es/[N]o)?',
  'Continue (yes/no): ',
  "Enter passphrase for key '/root/.ssh/id': ",
  'Password:',
  'Username for https://example.com: ',
  'Press any key to continue...',
  'Hit ENTER',
  'Select an option:',
  '>>> ',
  'mysql> ',
])('%j waits for input', (line) => {
  expect(isLineAskingForInput(line)).toBe(true);
});

test.each([
  'Type checking...',
  'Building the project…',
  '</html>',
  '<div>',
  'Progress: 42 %',
  'Compiling a.ts:',
  'Listening on http://127.0.0.1:8080',
  'To continue, see the log.',
  'done',
])('%j is plain output', (line) => {
  expect(isLineAskingForInput(line)).toBe(false);
});
