import { exhaustive } from '../../lib/exhaustive.ts';
import { formatTokens } from '../../lib/format.ts';
import { THEME_NAMES } from '../theme.ts';
import type { Choice, PickerPurpose } from '../view/overlay.ts';
import { printing } from '../view/view-state.ts';
import type { EffectHost } from './effect-host.ts';

const TITLES: Readonly<Record<PickerPurpose, string>> = {
  model: 'Model',
  theme: 'Theme',
  rewind: 'Go back to',
  resume: 'Resume',
};

/** Opens a list to choose from below the draft. */
export async function openPicker(purpose: PickerPurpose, host: EffectHost): Promise<void> {
  const choices = await choicesOf(purpose, host);
  host.change((view) => {
    if (choices.length === 0) {
      return printing(view, { kind: 'notice', level: 'info', text: `${TITLES[purpose]}: there is nothing to choose.` });
    }
    return { ...view, overlay: { kind: 'picker', purpose, title: TITLES[purpose], choices, query: '', selected: 0 } };
  });
}

async function choicesOf(purpose: PickerPurpose, { conversation }: EffectHost): Promise<readonly Choice[]> {
  switch (purpose) {
    case 'model':
      return conversation.models().map(({ id, label, contextWindow, price }) => ({
        id,
        label: id,
        detail: `${label}, ${formatTokens(contextWindow)}${price === undefined ? '' : `, $${price.input}/$${price.output} per million`}`,
      }));
    case 'theme':
      return ['auto', ...THEME_NAMES].map((name) => ({ id: name, label: name, detail: '' }));
    case 'rewind':
      return (await conversation.checkpoints()).toReversed().map(({ id, prompt, at, files }) => ({
        id,
        label: prompt.replaceAll('\n', ' ').slice(0, 60),
        detail: `${at.slice(11, 16)}${files === 0 ? '' : `, ${files} files`}`,
      }));
    case 'resume':
      return (await conversation.sessions?.()) ?? [];
    default:
      return exhaustive(purpose);
  }
}

/** Does what was chosen. */
export async function pick(purpose: PickerPurpose, id: string, host: EffectHost): Promise<void> {
  const { conversation, change } = host;
  const say = (text: string, level: 'info' | 'warn' = 'info') =>
    change((view) => printing(view, { kind: 'notice', level, text }));
  switch (purpose) {
    case 'model': {
      const set = await conversation.setModel(id);
      return set.ok ? say(`Model is ${set.model} from the next turn on.`) : say(set.why, 'warn');
    }
    case 'theme':
      return host.setTheme(id);
    case 'rewind': {
      const done = await conversation.rewind(id, 'both');
      if (!done.ok) return say(done.why, 'warn');
      say(`Back before: ${done.prompt.split('\n', 1)[0] ?? ''}`);
      return change((view) => ({ ...view, editor: { ...view.editor, text: done.prompt, caret: done.prompt.length } }));
    }
    case 'resume':
      return say(`Leave and run: ouro --resume ${id}`);
    default:
      return exhaustive(purpose);
  }
}
