import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applyEdits, modify } from 'jsonc-parser';
import type { JsonValue } from '../contracts/json.ts';
import { ifThere } from '../lib/files/errno.ts';
import { writePrivately } from '../lib/files/private-file.ts';

/** Writes one of the user's own settings; every other byte of the file stays. `undefined` takes it away. */
export async function keepSetting(ouroHome: string, key: string, value: JsonValue | undefined): Promise<void> {
  const file = join(ouroHome, 'settings.json');
  const before = (await ifThere(readFile(file, 'utf8'))) ?? '';
  const text = before.trim() === '' ? '{}\n' : before;
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' };
  await writePrivately(file, applyEdits(text, modify(text, [key], value, { formattingOptions })));
}
