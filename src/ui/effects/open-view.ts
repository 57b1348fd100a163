import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { CommandView } from '../../contracts/face/command.ts';
import { mergeLines } from '../../lib/text/merge-lines.ts';
import { STARTING_VIM } from '../composer/vim.ts';
import { resumedItems } from '../history/resumed-items.ts';
import { printing } from '../view/view-state.ts';
import { copyAnswer } from './copy-text.ts';
import type { EffectHost } from './effect-host.ts';
import { showSubAgent, showTranscript } from './pages.ts';
import { openPicker } from './pickers.ts';

const REDRAWN_TURNS = 3;

/** Vim mode on or off, now and at the next start. */
async function toggleVim({ now, change, conversation }: EffectHost): Promise<void> {
  const isOn = now().vim === undefined;
  const text = isOn ? 'Vim mode is on: esc for commands, i to write.' : 'Vim mode is off.';
  change((view) =>
    printing({ ...view, vim: isOn ? STARTING_VIM : undefined }, { kind: 'notice', level: 'info', text }),
  );
  await conversation.keepSetting?.('editorMode', isOn ? 'vim' : 'normal');
}

/** A file in the person's editor. Who changed it meanwhile loses nothing, nor does what was saved there. */
async function editNamed(path: string, { editFile, change }: EffectHost): Promise<void> {
  const tell = (level: 'info' | 'warn', text: string) =>
    change((view) => printing(view, { kind: 'notice', level, text }));
  const before = await readFile(path, 'utf8');
  const saved = await editFile(before, basename(path));
  if (saved === undefined || saved === before) return;
  const merged = mergeLines(before, await readFile(path, 'utf8'), saved);
  if (merged !== undefined) {
    await writeFile(path, merged);
    return tell('info', `${path} is changed.`);
  }
  const beside = `${path}.yours`;
  await writeFile(beside, saved);
  tell('warn', `${path} was changed in the same lines meanwhile: what you wrote is in ${beside}.`);
}

/** Asks for a key where nobody sees it, and has it stored. */
async function loginHere(place: string, { askHidden, conversation, change }: EffectHost): Promise<void> {
  const tell = (level: 'info' | 'warn', text: string) =>
    change((view) => printing(view, { kind: 'notice', level, text }));
  if (askHidden === undefined || conversation.login === undefined)
    return tell('info', `A key cannot be typed unseen here. In another terminal: ouro login ${place}`);
  const key = await askHidden(`Key of ${place} (it is not shown, esc leaves): `);
  if (key === undefined) return tell('info', 'Nothing was stored.');
  const { ok, words } = await conversation.login(place, key);
  tell(ok ? 'info' : 'warn', words);
}

/** Opens one of the screen's own views for a command. */
export async function openView(view: CommandView, argument: string, host: EffectHost): Promise<void> {
  switch (view) {
    case 'help':
      return host.change((state) => ({ ...state, overlay: { kind: 'help', filter: '', isFiltering: false } }));
    case 'theme':
    case 'rewind':
      return openPicker(view, host);
    case 'resume':
      return host.sessions.open('folder');
    case 'transcript':
      return showTranscript(host);
    case 'sub_agent':
      return showSubAgent(argument, host);
    case 'copy':
      return copyAnswer(argument, host);
    case 'redraw': {
      const mark = { kind: 'notice', level: 'info', text: 'The last turns again:' } as const;
      const past = (await host.conversation.past?.latest(REDRAWN_TURNS)) ?? [];
      return host.change((state) => printing(state, mark, ...resumedItems(past, host.messages(), state.facts).items));
    }
    case 'tasks':
      return host.change((state) => ({ ...state, todosShown: state.todosShown === 'row' ? 'column' : 'row' }));
    case 'vim':
      return toggleVim(host);
    case 'edit_file':
      return editNamed(argument, host);
    case 'login':
      return loginHere(argument, host);
    case 'exit':
      return host.leave({ type: 'leave' });
    default:
      return host.change((state) =>
        printing(state, { kind: 'notice', level: 'info', text: `There is no view of ${view} here.` }),
      );
  }
}
