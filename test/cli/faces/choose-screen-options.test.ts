import { expect, test } from 'vitest';
import { readEnvironment } from '../../../src/app/environment.ts';
import { chooseScreenOptions } from '../../../src/cli/faces/choose-screen-options.ts';
import type { FaceSettings } from '../../../src/contracts/face/screen-settings.ts';

const options = (env: Readonly<Record<string, string>>, settings: FaceSettings = {}) =>
  chooseScreenOptions(
    readEnvironment({ HOME: '/home/me', TERM: 'xterm-256color', ...env }),
    { prompt: undefined, typed: '' },
    settings,
  );

test('colours: NO_COLOR before FORCE_COLOR before what the terminal says', () => {
  expect(options({}).depth).toBe('256');
  expect(options({ COLORTERM: 'truecolor' }).depth).toBe('truecolor');
  expect(options({ COLORTERM: 'truecolor', FORCE_COLOR: '1' }).depth).toBe('16');
  expect(options({ FORCE_COLOR: '3', NO_COLOR: '1' }).depth).toBe('none');
});

test('words are links only in terminals known to show them, and not through tmux, unless somebody says so', () => {
  expect(options({}).links).toBe('printed');
  expect(options({ TERM_PROGRAM: 'WezTerm' }).links).toBe('clickable');
  expect(options({ TERM_PROGRAM: 'WezTerm', TMUX: '/tmp/x' }).links).toBe('printed');
  expect(options({ TMUX: '/tmp/x', FORCE_HYPERLINK: '1' }).links).toBe('clickable');
  expect(options({ TERM_PROGRAM: 'vscode', FORCE_HYPERLINK: '0' }).links).toBe('printed');
});

test('progress is told only where it is known to be shown, and notifications as the terminal knows them', () => {
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

test('signs are ASCII where they are said to be wide, and the terminal is asked where they may be', () => {
  const of = (LANG: string, settings: FaceSettings = {}) => {
    const { glyphs, signWidth } = options({ LANG }, settings);
    return [glyphs, signWidth];
  };
  expect(of('en_US.UTF-8')).toEqual(['unicode', 'known']);
  expect(of('ja_JP.UTF-8')).toEqual(['unicode', 'asked']);
  expect(of('ja_JP.UTF-8', { ambiguous: 'narrow' })).toEqual(['unicode', 'known']);
  expect(of('ja_JP.UTF-8', { ambiguous: 'wide' })).toEqual(['ascii', 'known']);
});

test('a terminal that is reached by SSH is one on another machine', () => {
  const network = { SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' };
  const terminals = [options({}), options(network), options({ SSH_TTY: '/dev/pts/3' })].map(({ terminal }) => terminal);
  expect(terminals).toEqual(['here', 'remote', 'remote']);
});
