import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applyEdits, modify } from 'jsonc-parser';
import type { Attempt } from '../contracts/face/host.ts';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { messageOf } from '../lib/errors.ts';
import { ifThere } from '../lib/files/errno.ts';
import { writePrivately } from '../lib/files/private-file.ts';
import { readLayer } from './read-layer.ts';

/** What a host may write into a file: tastes, nothing that decides what may run. */
const KEYS = ['model', 'smallModel', 'effort', 'outputStyle', 'theme', 'editorMode', 'language', 'notify'];
const OTHER_NAMES: Readonly<Record<string, string>> = { effortLevel: 'effort' };
const FORMAT = { formattingOptions: { insertSpaces: true, tabSize: 2, eol: '\n' } };

export type UpdateParts = {
  readonly cwd: string;
  readonly ouroHome: string;
  readonly trusted: boolean;
};

/** Changes single values of a settings file and leaves every other byte of it, comments too. */
export async function updateSettings(
  source: 'local' | 'user',
  settings: JsonObject,
  parts: UpdateParts,
): Promise<Attempt> {
  if (source === 'local' && !parts.trusted)
    return { ok: false, why: 'This folder is not trusted, so nothing is written into it. Run "ouro trust" first.' };
  const file =
    source === 'local' ? join(parts.cwd, '.claude', 'settings.local.json') : join(parts.ouroHome, 'settings.json');
  try {
    const before = (await ifThere(readFile(file, 'utf8'))) ?? '';
    let text = before.trim() === '' ? '{}\n' : before;
    for (const [name, value] of Object.entries(settings)) {
      const key = OTHER_NAMES[name] ?? name;
      const problem = problemOf(key, value);
      if (problem !== undefined) return { ok: false, why: problem };
      text = applyEdits(text, modify(text, [key], value, FORMAT));
    }
    if (text !== before) await writePrivately(file, text);
    return { ok: true };
  } catch (thrown) {
    return { ok: false, why: `${file} could not be written: ${messageOf(thrown)}` };
  }
}

function problemOf(key: string, value: JsonValue | undefined): string | undefined {
  if (!KEYS.includes(key)) return `${key} cannot be set by a host. What can: ${KEYS.join(', ')}.`;
  if (typeof value !== 'string') return `${key} must be a text.`;
  return readLayer(JSON.stringify({ [key]: value }), key, 'user').problems[0]?.text;
}
