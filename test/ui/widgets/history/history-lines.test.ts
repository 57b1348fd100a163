import { expect, test } from 'vitest';
import { asked, begins, grows, over } from '../screen/events.ts';
import { openStage } from '../screen/stage-screen.ts';

test('prompts are marked for terminals that support jumping, and for no others', async () => {
  const turn = [begins(), asked('one'), grows('Two.'), over()];
  const marked = openStage({ cols: 80, rows: 24 }, { title: 'set' });
  marked.emit(...turn);
  await marked.settled();
  expect(marked.bytes()).toMatch(/\x1b\]133;D\x07\x1b\]133;A\x07[^\n]*▌[^\n]*one[^\n]*\x1b\]133;B\x07\x1b\]133;C\x07/);
  const plain = openStage({ cols: 80, rows: 24 });
  plain.emit(...turn);
  await plain.settled();
  expect(plain.bytes()).not.toContain('133;');
  expect(marked.logicalLines()).toEqual(plain.logicalLines());
});

test('lines of code, commands and output are printed unbroken', async () => {
  const screen = openStage({ cols: 40, rows: 24 });
  const long = `const answer = [${'42, '.repeat(30)}];`;
  screen.emit(begins(), asked('go'), grows(`\`\`\`\n${long}\n\`\`\``), over());
  await screen.settled();
  expect(screen.logicalLines()).toContain(long);
});
