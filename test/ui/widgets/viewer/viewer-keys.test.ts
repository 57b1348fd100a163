import { expect, test } from 'vitest';
import { type OpenedPage, openPage } from './open-page.ts';

const keys = (page: OpenedPage, ...pressed: readonly string[]) => {
  page.press(...pressed);
  return page.top();
};

test('a page has the keys of less', () => {
  const page = openPage({ entries: 30, height: 11 });
  expect(keys(page, 'g')).toBe(0);
  expect(keys(page, 'j', 'down')).toBe(2);
  expect(keys(page, ' ')).toBe(12);
  expect(keys(page, 'b')).toBe(2);
  expect(keys(page, 'G')).toBe(page.rows().length - 10);
  expect(keys(page, 'j', 'j')).toBe(page.rows().length - 10);
});

test('[ and ] go from prompt to prompt', () => {
  const page = openPage({ entries: 30, height: 11 });
  page.press('g', ']');
  expect(page.rows()[page.top()]).toMatchObject({ mark: 'start' });
  const first = page.top();
  expect(keys(page, ']', '[')).toBe(first);
});

test('a search finds, moves forward and back, and reports no match', () => {
  const page = openPage({ entries: 30, height: 11 });
  page.press('g', '/');
  page.type('PROMPT 7');
  page.press('enter');
  expect(page.seen()).toContain('prompt 7');
  page.press('/');
  page.type('prompt 1');
  page.press('enter', 'n');
  const second = page.top();
  page.press('N', 'n');
  expect(page.top()).toBe(second);
  page.press('/');
  page.type('nowhere');
  page.press('enter');
  expect(page.note()).toBe('not found: nowhere');
});

test('output unfolds and thinking is shown at the same position', () => {
  const page = openPage({ entries: 3, height: 40 });
  expect(page.seen()).toContain('more lines (o)');
  expect(page.seen()).not.toContain('I wonder');
  page.press('o', 't');
  expect(page.seen()).not.toContain('more lines (o)');
  expect(page.seen()).toContain('I wonder');
});

test('q, ESC and ctrl+o close; y copies the top', () => {
  for (const key of ['q', 'esc', 'ctrl+o']) {
    const page = openPage({ entries: 3, height: 40 });
    page.press(key);
    expect(page.isOpen()).toBe(false);
  }
  const page = openPage({ entries: 3, height: 40 });
  page.press('g', 'j', 'y');
  expect(page.effects()).toEqual([{ type: 'copy', text: 'prompt 0' }]);
});

test('a page is on the alternate screen, and closing it restores the screen', async () => {
  const page = openPage({ entries: 3, height: 20 });
  await page.screen.settled();
  expect(page.screen.terminal.buffer.active.type).toBe('alternate');
  page.screen.resize({ cols: 60, rows: 18 });
  page.press('q');
  await page.screen.settled();
  expect(page.screen.terminal.buffer.active.type).toBe('normal');
  const said = page.screen.logicalLines().join('\n');
  expect(said.match(/^▌/gm)).toHaveLength(1);
});

test('output that finishes behind a page is printed once when it is closed', async () => {
  const page = openPage({ entries: 3, height: 20 });
  page.answer('Said behind the page.');
  page.press('q');
  await page.screen.settled();
  expect(page.screen.logicalLines().filter((line) => line === 'Said behind the page.')).toHaveLength(1);
});
