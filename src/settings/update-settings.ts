import { join } from 'node:path';
import type { Attempt } from '../contracts/face/host.ts';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { messageOf } from '../lib/errors.ts';
import { editJsonc } from '../lib/files/edit-jsonc.ts';
import { SETTING_KEYS } from './keys.ts';
import { readLayer } from './read-layer.ts';

/** What a host may write into a file: tastes, nothing that decides what may run. */
const KEYS = SETTING_KEYS.filter((row) => row.isForHosts).map(({ key }) => key);
const OTHER_NAMES: Readonly<Record<string, string>> = { effortLevel: 'effort' };

/** Changes single values of a settings file and leaves every other byte of it, comments too. */
export async function updateSettings(
  source: 'local' | 'user',
  settings: JsonObject,
  { cwd, ouroHome, trusted }: { readonly cwd: string; readonly ouroHome: string; readonly trusted: boolean },
): Promise<Attempt> {
  if (source === 'local' && !trusted)
    return { ok: false, why: 'This folder is not trusted, so nothing is written into it. Run "ouro trust" first.' };
  const edits = Object.entries(settings).map(([name, value]) => ({ path: [OTHER_NAMES[name] ?? name], value }));
  for (const { path, value } of edits) {
    const problem = problemOf(path.join(), value);
    if (problem !== undefined) return { ok: false, why: problem };
  }
  const file = source === 'local' ? join(cwd, '.claude', 'settings.local.json') : join(ouroHome, 'settings.json');
  try {
    await editJsonc(file, () => edits, source === 'local' ? 'refuse' : 'follow');
    return { ok: true };
  } catch (thrown) {
    return { ok: false, why: messageOf(thrown) };
  }
}

function problemOf(key: string, value: JsonValue | undefined): string | undefined {
  if (!KEYS.includes(key)) return `${key} cannot be set by a host. What can: ${KEYS.join(', ')}.`;
  if (typeof value !== 'string') return `${key} must be a text.`;
  return readLayer(JSON.stringify({ [key]: value }), key, 'user').problems[0]?.text;
}
