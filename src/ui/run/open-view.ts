import type { CommandView } from '../../contracts/command.ts';
import { printing } from '../view/view-state.ts';
import type { EffectHost } from './effect-host.ts';
import { openTranscript } from './pages.ts';
import { openPicker } from './pickers.ts';

/** Opens one of the screen's own views for a command. */
export async function openView(view: CommandView, host: EffectHost): Promise<void> {
  switch (view) {
    case 'help':
      return host.change((state) => ({ ...state, overlay: { kind: 'help', filter: '', typing: 'no' } }));
    case 'model':
    case 'theme':
    case 'rewind':
      return openPicker(view, host);
    case 'resume':
      return host.sessions.open('folder');
    case 'transcript':
      return openTranscript(host);
    case 'tasks':
      return host.change((state) => ({ ...state, todosShown: state.todosShown === 'row' ? 'column' : 'row' }));
    case 'exit':
      return host.leave({ type: 'leave' });
    default:
      return host.change((state) =>
        printing(state, { kind: 'notice', level: 'info', text: `There is no view of ${view} here.` }),
      );
  }
}
