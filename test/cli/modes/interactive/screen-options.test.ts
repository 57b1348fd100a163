import { expect, test } from 'vitest';
import { readEnvironment } from '../../../../src/app/environment.ts';
import { resolveScreenOptions } from '../../../../src/cli/modes/interactive/screen-options.ts';
import type { FrontendSettings } from '../../../../src/contracts/frontend/frontend-settings.ts';

const options = (env: Readonly<Record<string, string>>, settings: FrontendSettings = {}) =>
  resolveScreenOptions(
    readEnvironment({ HOME: '/home/me', TERM: 'xterm-256color', ...env }),
    { prompt: undefined, typed: '' },
    settings,
  );

test('colors: NO_COLOR overrides FORCE_COLOR, which overrides the terminal', () => {
  expect(options({}).depth).toBe('256');
  expect(options({ COLORTERM: 'truecolor' }).depth).toBe('truecolor');
  expect(options({ COLORTERM: 'truecolor', FORCE_COLOR: '1' }).depth).toBe('16');
  expect(options({ FORCE_COLOR: '3', NO_COLOR: '1' }).depth).toBe('none');
});

test('links are used only in terminals known to support them, and not in tmux, unless forced', () => {
  expect(options({}).links).toBe('printed');
  expect(options({ TERM_PROGRAM: 'WezTerm' }).links).toBe('clickable');
  expect(options({ TERM_PROGRAM: 'WezTerm', TMUX: '/tmp/x' }).links).toBe('printed');
  expect(options({ TMUX: '/tmp/x', FORCE_HYPERLINK: '1' }).links).toBe('clickable');
  expect(options({ TERM_PROGRAM: 'vscode', FORCE_HYPERLINK: '0' }).links).toBe('printed');
});

test('progress is reported only where supported, and notifications in the way of the terminal', () => {
  const of = (env: Readonly<Record<string, string>>) => options(env).progress;
  expect([of({}), of({ WT_SESSION: 'x' }), of({ ConEmuANSI: 'ON' })]).toEqual(['off', 'shown', 'shown']);
  const ghostty = { TERM_PROGRAM: 'ghostty', TERM_PROGRAM_VERSION: '1.2.0' };
  expect([of(ghostty), of({ ...ghostty, TERM_PROGRAM_VERSION: '1.1.3' })]).toEqual(['shown', 'off']);
  expect([of({ ...ghostty, TMUX: '/tmp/x' }), of({ TERM_PROGRAM: 'iTerm.app' })]).toEqual(['off', 'off']);
  const by = (env: Readonly<Record<string, string>>) => options(env).notify;
  expect([by({}), by(ghostty), by({ TERM: 'xterm-kitty' }), by({ TERM: 'foot' })]).toEqual([
    'bell',
    'osc777',
    'osc99',
    'osc777',
  ]);
  expect(by({ ...ghostty, TMUX: '/tmp/x' })).toBe('tmux');
});

test('glyphs are ASCII where ambiguous characters are wide, and an unknown terminal is queried', () => {
  const of = (LANG: string, settings: FrontendSettings = {}) => {
    const { glyphs, ambiguousWidth } = options({ LANG }, settings);
    return [glyphs, ambiguousWidth];
  };
  expect(of('en_US.UTF-8')).toEqual(['unicode', 'known']);
  expect(of('ja_JP.UTF-8')).toEqual(['unicode', 'asked']);
  expect(of('ja_JP.UTF-8', { ambiguous: 'narrow' })).toEqual(['unicode', 'known']);
  expect(of('ja_JP.UTF-8', { ambiguous: 'wide' })).toEqual(['ascii', 'known']);
});

test('a terminal reached by SSH counts as remote', () => {
  const network = { SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' };
  const terminals = [options({}), options(network), options({ SSH_TTY: '/dev/pts/3' })].map(({ terminal }) => terminal);
  expect(terminals).toEqual(['here', 'remote', 'remote']);
});
