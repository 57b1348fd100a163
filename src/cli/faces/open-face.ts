import type { Environment } from '../../contracts/environment.ts';
import type { Conversation } from '../../contracts/face/conversation.ts';
import type { FaceSettings } from '../../contracts/face/screen-settings.ts';
import type { OpenScreen, ScreenTerminal } from '../../ui/open-screen.ts';
import type { Invocation } from '../args/invocation.ts';
import { chooseScreenOptions, type Opening } from './choose-screen-options.ts';

/** Why lines are only ever added, told at the start; `undefined` where the screen may be drawn. */
export function linearReason(
  { term }: Environment,
  { reading }: Pick<Invocation, 'reading'>,
  settings: FaceSettings = {},
): string | undefined {
  if (reading === 'lines') return 'Screen reader mode is on: the flag --a11y says so.';
  if (term.accessible) return 'Screen reader mode is on: ACCESSIBLE or OURO_A11Y is set.';
  if (settings.accessible === true) return 'Screen reader mode is on: the setting "accessible" says so.';
  return term.name === 'dumb' ? 'This terminal cannot redraw (TERM=dumb), so lines are only added.' : undefined;
}

/** Opens the face that fits: the screen, or lines that are only added. */
export async function openFace(
  conversation: Conversation,
  terminal: ScreenTerminal,
  environment: Environment,
  opening: Opening,
  invocation: Pick<Invocation, 'reading'>,
): Promise<OpenScreen> {
  const settings = await conversation.faceSettings?.();
  const options = chooseScreenOptions(environment, opening, settings);
  const why = linearReason(environment, invocation, settings);
  if (why === undefined) return (await import('../../ui/open-screen.ts')).openScreen(conversation, terminal, options);
  const lineEditing = environment.term.name === 'dumb' ? 'none' : 'own';
  if (lineEditing === 'none') process.stdin.setRawMode(false);
  const { openLinear } = await import('../../ui/linear/open-linear.ts');
  return openLinear(conversation, terminal, { ...options, why, lineEditing });
}
