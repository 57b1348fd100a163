import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { Conversation } from '../contracts/face/conversation.ts';
import { readGiven } from '../lib/files/read-regular.ts';
import { keepSetting } from './keep-setting.ts';
import { createStatusLine, type StatusLineNeeds } from './status-line-script.ts';
import { createThemeFiles } from './theme-files.ts';

const keybindings = z.record(z.string(), z.string());

/** What the screen may know and keep: how a person wants it to look, and to be used. */
export function screenSettings(
  needs: StatusLineNeeds & { readonly ouroHome: string },
): Required<Pick<Conversation, 'faceSettings' | 'keepSetting' | 'themes' | 'statusLine'>> {
  return {
    async faceSettings() {
      const settings = needs.settings();
      const file = join(needs.ouroHome, 'keybindings.json');
      const text = await readGiven(file).catch(() => undefined);
      const own = keybindings.safeParse(parse(text ?? '{}', [], { allowTrailingComma: true }));
      // A file that is no table of keys is told as a key nobody knows.
      const fromFile = own.success ? own.data : { [file]: 'a table of keys' };
      return { ...settings, keybindings: { ...fromFile, ...settings.keybindings } };
    },
    keepSetting: (key, value) => keepSetting(needs.ouroHome, key, value),
    themes: createThemeFiles(join(needs.ouroHome, 'themes')),
    statusLine: createStatusLine(needs),
  };
}
