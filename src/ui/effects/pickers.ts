import { exhaustive } from '../../lib/exhaustive.ts';
import { formatClock, formatCount } from '../../lib/text/format.ts';
import { edit } from '../composer/edit.ts';
import { THEME_NAMES } from '../theme/theme.ts';
import type { Choice, PickerPurpose } from '../view/overlay.ts';
import { printing } from '../view/view-state.ts';
import type { EffectHost } from './effect-host.ts';

const TITLES: Readonly<Record<PickerPurpose, string>> = {
  theme: 'Theme',
  rewind: 'Go back to',
  restore: 'Bring back',
};

/** Opens a list to choose from below the draft. */
export async function openPicker(purpose: PickerPurpose, host: EffectHost): Promise<void> {
  const choices = await choicesOf(purpose, host);
  const now = purpose === 'theme' ? choices.findIndex(({ id }) => id === host.themes.chosen()) : 0;
  open(purpose, choices, host, Math.max(0, now));
}

function open(purpose: PickerPurpose, choices: readonly Choice[], host: EffectHost, selected = 0): void {
  host.change((view) => {
    if (choices.length === 0) {
      return printing(view, { kind: 'notice', level: 'info', text: `${TITLES[purpose]}: there is nothing to choose.` });
    }
    return { ...view, overlay: { kind: 'picker', purpose, title: TITLES[purpose], choices, query: '', selected } };
  });
}

async function choicesOf(purpose: PickerPurpose, { conversation, themes }: EffectHost): Promise<readonly Choice[]> {
  switch (purpose) {
    case 'theme': {
      const own = await themes.load();
      return ['auto', ...THEME_NAMES, ...own].map((name) => {
        const words = [...(own.includes(name) ? ['yours'] : []), ...(name === themes.chosen() ? ['in use'] : [])];
        return { id: name, label: name, detail: words.join(', ') };
      });
    }
    case 'rewind':
      return (await conversation.checkpoints()).toReversed().map(({ id, prompt, at, files }) => ({
        id,
        label: prompt.replaceAll('\n', ' ').slice(0, 60),
        detail: `${formatClock(at)}${files === 0 ? '' : `, ${files} files`}`,
      }));
    case 'restore':
      return [];
    default:
      return exhaustive(purpose);
  }
}

/** Does what was chosen. */
export async function pick(purpose: PickerPurpose, id: string, host: EffectHost): Promise<void> {
  const { conversation } = host;
  switch (purpose) {
    case 'theme':
      await host.themes.use(id);
      await conversation.keepSetting?.('theme', id);
      return host.repaint();
    case 'rewind': {
      const point = (await conversation.checkpoints()).find((one) => one.id === id);
      return open('restore', restoreChoices(id, point?.files ?? 0), host);
    }
    case 'restore':
      return restore(id, host);
    default:
      return exhaustive(purpose);
  }
}

const RESTORED = ['both', 'conversation', 'files'] as const;

/** What can be brought back; the files only where some were kept. */
function restoreChoices(id: string, files: number): readonly Choice[] {
  const conversation = {
    id: `conversation ${id}`,
    label: 'conversation',
    detail: 'the message comes back to be edited',
  };
  if (files === 0) return [conversation];
  const count = formatCount(files, 'file');
  return [
    { id: `both ${id}`, label: 'both', detail: `the message, and ${count} as they were` },
    conversation,
    { id: `files ${id}`, label: 'files', detail: `${count} as they were; the conversation stays` },
  ];
}

async function restore(choice: string, { conversation, change }: EffectHost): Promise<void> {
  const [word = '', id = ''] = choice.split(' ');
  const what = RESTORED.find((one) => one === word) ?? 'conversation';
  const done = await conversation.rewind(id, what);
  if (!done.ok) return change((view) => printing(view, { kind: 'notice', level: 'warn', text: done.why }));
  const files = done.restored.length + done.removed.length;
  const parts = [
    `Back before: ${done.prompt.split('\n', 1)[0] ?? ''}`,
    ...(files === 0 ? [] : [formatCount(files, 'file')]),
  ];
  const left = (done.problems ?? []).map((problem) => `\nNot brought back: ${problem}`).join('');
  change((view) => {
    const level = left === '' ? 'info' : 'warn';
    const printed = printing(view, { kind: 'notice', level, text: parts.join(', ') + left });
    // Nothing is lost: what stood in the draft comes back by undo.
    return what === 'files'
      ? printed
      : { ...printed, editor: edit(view.editor, { type: 'set-text', text: done.prompt }, 0) };
  });
}
