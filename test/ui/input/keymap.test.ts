import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KEY_ACTION_GROUPS, KEY_ACTION_NAMES, KEY_ACTIONS } from '../../../src/ui/input/key-actions.ts';
import { createKeymap, DEFAULT_KEY_BINDINGS, resolveUserKeyBindings } from '../../../src/ui/input/keymap.ts';

describe('user key bindings', () => {
  test('replace the default ones in any notation, and `none` unbinds a key', () => {
    const { keys, problems } = resolveUserKeyBindings({
      'Ctrl+K': 'send',
      'Meta+Return': 'newline',
      'ctrl+s': 'none',
      f2: 'tasks',
    });
    const { findBinding } = createKeymap(keys);
    expect(problems).toEqual([]);
    expect([
      findBinding('', 'ctrl+k'),
      findBinding('', 'alt+enter'),
      findBinding('', 'ctrl+s'),
      findBinding('', 'f2'),
    ]).toEqual(['send', 'newline', undefined, 'tasks']);
  });

  test('may be sequences of two keys', () => {
    const { findBinding } = createKeymap(
      resolveUserKeyBindings({ 'ctrl+x t': 'tasks', 'ctrl+k ctrl+k': 'transcript' }).keys,
    );
    expect([findBinding('', 'ctrl+x'), findBinding('ctrl+x', 't'), findBinding('ctrl+x', 'ctrl+e')]).toEqual([
      'prefix',
      'tasks',
      'external_editor',
    ]);
    expect([findBinding('', 'ctrl+k'), findBinding('ctrl+k', 'ctrl+k')]).toEqual(['prefix', 'transcript']);
  });

  test.each([
    [{ 'ctrl+k': 'sned' }, /unknown action "sned". Did you mean send\?/],
    [{ 'hyper+k': 'send' }, /Unknown key "hyper\+k"/],
    [{ a: 'send' }, /Unknown key "a"/],
    [{ 'ctrl+k': 'send', 'Control+k': 'tasks' }, /ctrl\+k is bound twice/],
    [{ 'ctrl+k ctrl+k': 'tasks' }, /ctrl\+k is bound to delete-to-line-end and also starts "ctrl\+k ctrl\+k"/],
    [{ enter: 'newline' }, /No other key is bound to send, so enter keeps this binding/],
  ])('%o is reported', (bindings, message) => {
    expect(resolveUserKeyBindings(bindings).problems.join('\n')).toMatch(message);
  });

  test('an invalid binding leaves every other key unchanged', () => {
    expect(resolveUserKeyBindings({ 'hyper+k': 'send', 'ctrl+k': 'sned' }).keys).toEqual(DEFAULT_KEY_BINDINGS);
  });
});

test('docs/keys.md lists every action with its keys from the table', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/keys.md'), 'utf8');
  // The formatter pads the tables, so padding is removed before comparing.
  const plain = page.replaceAll(/ {2,}\|/g, ' |').replaceAll(/-{4,}/g, '---');
  for (const group of KEY_ACTION_GROUPS) expect(plain).toContain(tableOf(group));
});

/** Returns a section of the page, generated from the table. */
function tableOf(group: (typeof KEY_ACTION_GROUPS)[number]): string {
  const rows = KEY_ACTION_NAMES.filter((name) => KEY_ACTIONS[name].group === group).map((name) => {
    const keys = Object.keys(DEFAULT_KEY_BINDINGS).filter((chord) => DEFAULT_KEY_BINDINGS[chord] === name);
    return `| ${keys.map((key) => `\`${key}\``).join(', ')} | ${KEY_ACTIONS[name].description} | \`${name}\` |\n`;
  });
  return `## ${group}\n\n| Key | Effect | Name |\n| --- | --- | --- |\n${rows.join('')}`;
}
