import { PRESETS } from '../../model/presets.ts';
import type { Core } from '../core.ts';
import { findKeyPlace, login, logout } from '../start/login.ts';
import { type BuiltinCommand, done, failed } from './builtin-command.ts';

/** Keys of places, stored and forgotten. */
export const KEY_COMMANDS: readonly BuiltinCommand[] = [
  {
    name: 'login',
    description: 'store the key of a place; it is asked for unseen',
    argumentHint: '[place]',
    async run(args, { core }) {
      const answer = await findKeyPlace(args.trim() || 'anthropic', core);
      return answer.ok ? { kind: 'open', view: 'login', argument: answer.place.name } : failed(answer.problem);
    },
  },
  {
    name: 'logout',
    description: 'forget a stored key',
    argumentHint: '[place]',
    async run(args, { core }) {
      const name = args.trim() || 'anthropic';
      const answer = await findKeyPlace(name, core);
      const { ok, words } = await logout(answer.ok ? answer.place : { name, label: name }, core.environment);
      return ok ? done(`${words} This session goes on with it.`) : failed(words);
    },
  },
];

/** Stores a key and uses it from now on. */
export async function loginNow(
  core: Core,
  wanted: string,
  key: string,
): Promise<{ readonly ok: boolean; readonly words: string }> {
  const answer = await findKeyPlace(wanted, core);
  if (!answer.ok) return { ok: false, words: answer.problem };
  const { name } = answer.place;
  const stored = await login(answer.place, key, core.environment);
  if (!stored.ok) return stored;
  core.model.takeKey(name, key.trim());
  const main = PRESETS.get(name)?.main;
  return main === undefined ? stored : { ok: true, words: `${stored.words} /model ${name}/${main} uses it.` };
}
