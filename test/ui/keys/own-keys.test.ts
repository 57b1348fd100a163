import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ACTION_GROUPS, ACTION_NAMES, ACTIONS } from '../../../src/ui/keys/actions.ts';
import { DEFAULT_KEYS, keymapOf } from '../../../src/ui/keys/keymap.ts';
import { ownKeys } from '../../../src/ui/keys/own-keys.ts';

describe('keys of one’s own', () => {
  test('take the place of the usual ones, however they are spelled, and `none` frees a key', () => {
    const { keys, problems } = ownKeys({ 'Ctrl+K': 'send', 'Meta+Return': 'newline', 'ctrl+s': 'none', f2: 'tasks' });
    const { bindingOf } = keymapOf(keys);
    expect(problems).toEqual([]);
    expect([bindingOf('', 'ctrl+k'), bindingOf('', 'alt+enter'), bindingOf('', 'ctrl+s'), bindingOf('', 'f2')]).toEqual(
      ['send', 'newline', undefined, 'tasks'],
    );
  });

  test('may be two in a row', () => {
    const { bindingOf } = keymapOf(ownKeys({ 'ctrl+x t': 'tasks', 'ctrl+k ctrl+k': 'transcript' }).keys);
    expect([bindingOf('', 'ctrl+x'), bindingOf('ctrl+x', 't'), bindingOf('ctrl+x', 'ctrl+e')]).toEqual([
      'prefix',
      'tasks',
      'external_editor',
    ]);
    expect([bindingOf('', 'ctrl+k'), bindingOf('ctrl+k', 'ctrl+k')]).toEqual(['prefix', 'transcript']);
  });

  test.each([
    [{ 'ctrl+k': 'sned' }, /there is no action "sned". Did you mean send\?/],
    [{ 'hyper+k': 'send' }, /There is no key "hyper\+k"/],
    [{ a: 'send' }, /There is no key "a"/],
    [{ 'ctrl+k': 'send', 'Control+k': 'tasks' }, /ctrl\+k is bound twice/],
    [{ 'ctrl+k ctrl+k': 'tasks' }, /ctrl\+k is bound to delete-to-line-end and begins "ctrl\+k ctrl\+k"/],
    [{ enter: 'newline' }, /Nothing would be bound to send any more, so enter stays/],
  ])('%o is told', (own, words) => {
    expect(ownKeys(own).problems.join('\n')).toMatch(words);
  });

  test('a binding that makes no sense leaves every other key as it was', () => {
    expect(ownKeys({ 'hyper+k': 'send', 'ctrl+k': 'sned' }).keys).toEqual(DEFAULT_KEYS);
  });
});

test('docs/keys.md lists every action with its keys, as the table has them', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/keys.md'), 'utf8');
  // The formatter lines tables up; what stands in them is what counts.
  const plain = page.replaceAll(/ {2,}\|/g, ' |').replaceAll(/-{4,}/g, '---');
  for (const group of ACTION_GROUPS) expect(plain).toContain(tableOf(group));
});

/** A chapter of the page, made from the table. */
function tableOf(group: (typeof ACTION_GROUPS)[number]): string {
  const rows = ACTION_NAMES.filter((name) => ACTIONS[name].group === group).map((name) => {
    const keys = Object.keys(DEFAULT_KEYS).filter((chord) => DEFAULT_KEYS[chord] === name);
    return `| ${keys.map((key) => `\`${key}\``).join(', ')} | ${ACTIONS[name].words} | \`${name}\` |\n`;
  });
  return `## ${group}\n\n| Key | What it does | Name |\n| --- | --- | --- |\n${rows.join('')}`;
}
