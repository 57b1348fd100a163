import { padWidth } from '../../lib/text-width.ts';
import type { Drawing } from '../drawing.ts';
import { type LogicalLine, plain, terminalLine, toned } from '../lines/line.ts';
import { isBusy, type ViewState } from '../view/view-state.ts';

type HelpLine = { readonly keys: string; readonly does: string; readonly when: 'always' | 'busy' | 'idle' };

const HELP: readonly (readonly [string, readonly HelpLine[]])[] = [
  [
    'Write',
    [
      { keys: 'enter', does: 'send', when: 'always' },
      { keys: 'shift+enter, ctrl+j, \\ enter', does: 'new line', when: 'always' },
      { keys: '/  @  !  #', does: 'commands, files, shell, memory', when: 'always' },
      { keys: 'up, ctrl+r', does: 'earlier messages, search them', when: 'always' },
      { keys: 'ctrl+g', does: 'draft in your editor', when: 'always' },
      { keys: 'ctrl+s, ctrl+_', does: 'put aside, undo', when: 'always' },
    ],
  ],
  [
    'While it works',
    [
      { keys: 'esc', does: 'stop', when: 'busy' },
      { keys: 'enter', does: 'say something now', when: 'busy' },
      { keys: 'alt+enter', does: 'say it when it has finished', when: 'busy' },
      { keys: 'ctrl+y', does: 'answer a question', when: 'busy' },
      { keys: 'ctrl+b', does: 'command to the background', when: 'busy' },
    ],
  ],
  [
    'Look',
    [
      { keys: 'ctrl+o', does: 'transcript', when: 'always' },
      { keys: 'ctrl+t', does: 'tasks', when: 'always' },
      { keys: 'ctrl+l', does: 'repaint', when: 'always' },
    ],
  ],
  [
    'Session',
    [
      { keys: 'shift+tab', does: 'ask, plan, edits', when: 'always' },
      { keys: 'alt+p', does: 'model', when: 'always' },
      { keys: 'esc esc', does: 'go back to an earlier message', when: 'idle' },
      { keys: 'ctrl+c twice, ctrl+d', does: 'leave', when: 'always' },
    ],
  ],
];

const KEY_WIDTH = 30;

/** One page of keys; those that work right now are bold. */
export function helpLines(view: ViewState, { width }: Drawing): readonly LogicalLine[] {
  const filter = view.overlay?.kind === 'help' ? view.overlay.filter.toLowerCase() : '';
  const now = isBusy(view) ? 'busy' : 'idle';
  const keyWidth = Math.min(KEY_WIDTH, Math.floor(width / 2));
  return HELP.flatMap(([title, lines]) => {
    const shown = lines.filter(({ keys, does }) => `${keys} ${does}`.toLowerCase().includes(filter));
    if (shown.length === 0) return [];
    return [
      terminalLine(toned('accent', title)),
      ...shown.map(({ keys, does, when }) => {
        const isValid = when === 'always' || when === now;
        const key = padWidth(`  ${keys}`, keyWidth);
        return terminalLine(isValid ? { text: key, style: { bold: true } } : toned('dim', key), plain(` ${does}`));
      }),
    ];
  });
}
