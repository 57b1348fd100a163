import { exhaustive } from '../../lib/errors.ts';
import { formatClock, formatCount } from '../../lib/text/format.ts';
import type { OverlayChoice, PickerPurpose } from '../app-state/overlay.ts';
import { addHistoryItems } from '../app-state/view-state.ts';
import { THEME_NAMES } from '../theme/theme.ts';
import { applyDraftEditorAction } from '../widgets/composer/draft-editor-actions.ts';
import { refreshStatusLineFacts } from './conversation-facts.ts';
import type { UiEffectHost } from './ui-effect-host.ts';

const TITLES: Readonly<Record<PickerPurpose, string>> = {
  theme: 'Theme',
  rewind: 'Rewind to',
  restore: 'Restore',
};

/** Opens a picker below the draft. */
export async function openPicker(purpose: PickerPurpose, host: UiEffectHost): Promise<void> {
  const choices = await listChoices(purpose, host);
  const current = purpose === 'theme' ? choices.findIndex(({ id }) => id === host.themes.getChosen()) : 0;
  showPicker(purpose, choices, host, Math.max(0, current));
}

function showPicker(purpose: PickerPurpose, choices: readonly OverlayChoice[], host: UiEffectHost, selected = 0): void {
  host.updateView((view) => {
    if (choices.length === 0) {
      return addHistoryItems(view, {
        kind: 'notice',
        level: 'info',
        text: `${TITLES[purpose]}: nothing to choose from.`,
      });
    }
    return { ...view, overlay: { kind: 'picker', purpose, title: TITLES[purpose], choices, query: '', selected } };
  });
}

async function listChoices(
  purpose: PickerPurpose,
  { conversation, themes }: UiEffectHost,
): Promise<readonly OverlayChoice[]> {
  switch (purpose) {
    case 'theme': {
      const custom = await themes.load();
      return ['auto', ...THEME_NAMES, ...custom].map((name) => {
        const notes = [
          ...(custom.includes(name) ? ['custom'] : []),
          ...(name === themes.getChosen() ? ['current'] : []),
        ];
        return { id: name, label: name, detail: notes.join(', ') };
      });
    }
    case 'rewind':
      return (await conversation.checkpoints()).toReversed().map(({ id, prompt, at, files }) => ({
        id,
        label: prompt.replaceAll('\n', ' ').slice(0, 60),
        detail: `${formatClock(at)}${files === 0 ? '' : `, ${formatCount(files, 'file')}`}`,
      }));
    case 'restore':
      return [];
    default:
      return exhaustive(purpose);
  }
}

/** Applies the choice made in a picker. */
export async function applyPickerChoice(purpose: PickerPurpose, id: string, host: UiEffectHost): Promise<void> {
  const { conversation } = host;
  switch (purpose) {
    case 'theme':
      await host.themes.use(id);
      await conversation.saveSetting?.('theme', id);
      return host.repaint();
    case 'rewind': {
      const point = (await conversation.checkpoints()).find((checkpoint) => checkpoint.id === id);
      return showPicker('restore', listRestoreChoices(id, point?.files ?? 0), host);
    }
    case 'restore':
      return restore(id, host);
    default:
      return exhaustive(purpose);
  }
}

const MAX_SHOWN_PROBLEMS = 100;
const RESTORE_TARGETS = ['both', 'conversation', 'files'] as const;

/** Lists what can be restored; files only if the checkpoint contains some. */
function listRestoreChoices(id: string, files: number): readonly OverlayChoice[] {
  const conversation: OverlayChoice = {
    id: `conversation ${id}`,
    label: 'conversation',
    detail: 'the message returns to the draft',
  };
  if (files === 0) return [conversation];
  const count = formatCount(files, 'file');
  return [
    { id: `both ${id}`, label: 'both', detail: `the message returns to the draft, ${count} restored` },
    conversation,
    { id: `files ${id}`, label: 'files', detail: `${count} restored, the conversation stays` },
  ];
}

async function restore(choice: string, { conversation, updateView }: UiEffectHost): Promise<void> {
  const [word = '', id = ''] = choice.split(' ');
  const what = RESTORE_TARGETS.find((target) => target === word) ?? 'conversation';
  const outcome = await conversation.rewind(id, what);
  if (!outcome.ok)
    return updateView((view) => addHistoryItems(view, { kind: 'notice', level: 'warn', text: outcome.problem }));
  const files = outcome.restored.length + outcome.removed.length;
  const { canRetry = false } = outcome;
  const parts = [
    `${canRetry ? 'Not completely rewound' : 'Rewound'} to before: ${outcome.prompt.split('\n', 1)[0] ?? ''}`,
    ...(files === 0 ? [] : [formatCount(files, 'file')]),
  ];
  const { problems: all = [] } = outcome;
  const more = all.length > MAX_SHOWN_PROBLEMS ? `\n… and ${all.length - MAX_SHOWN_PROBLEMS} more` : '';
  const problems = [...all.slice(0, MAX_SHOWN_PROBLEMS).map((problem) => `\nNot restored: ${problem}`), more].join('');
  const hint = canRetry ? '\nRewind again to restore the rest.' : '';
  updateView((view) => {
    const level = problems === '' ? 'info' : 'warn';
    const facts = refreshStatusLineFacts(view.facts, conversation);
    const notice = { kind: 'notice', level, text: parts.join(', ') + problems + hint } as const;
    const printed = addHistoryItems({ ...view, facts }, notice);
    // The previous draft can be restored by undo.
    return what === 'files' || canRetry
      ? printed
      : { ...printed, editor: applyDraftEditorAction(view.editor, { type: 'set-text', text: outcome.prompt }, 0) };
  });
}
