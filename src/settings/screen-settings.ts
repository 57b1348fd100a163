import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { Conversation } from '../contracts/face/conversation.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { Settings } from '../contracts/settings.ts';
import { readGiven } from '../lib/files/read-regular.ts';
import { keepSetting } from './keep-setting.ts';
import { createStatusLine } from './status-line-script.ts';
import { createThemeFiles } from './theme-files.ts';

type ScreenNeeds = {
  readonly ouroHome: string;
  readonly settings: () => Settings;
  readonly variables: () => Readonly<Record<string, string>>;
  readonly cwd: () => string;
  /** What a script for the status line is told. */
  readonly facts: () => JsonObject;
};

const keybindings = z.record(z.string(), z.string());

/** What a face may know and keep: how a person wants it to look, and to be used. */
export function screenSettings(
  wiring: ScreenNeeds,
): Required<Pick<Conversation, 'faceSettings' | 'keepSetting' | 'themes' | 'statusLine'>> {
  return {
    async faceSettings() {
      const settings = wiring.settings();
      const file = join(wiring.ouroHome, 'keybindings.json');
      const text = await readGiven(file).catch(() => undefined);
      const own = keybindings.safeParse(parse(text ?? '{}', [], { allowTrailingComma: true }));
      // A file that is no table of keys is told as a key nobody knows.
      const fromFile = own.success ? own.data : { [file]: 'a table of keys' };
      return { ...settings, keybindings: { ...fromFile, ...settings.keybindings } };
    },
    keepSetting: (key, value) => keepSetting(wiring.ouroHome, key, value),
    themes: createThemeFiles(join(wiring.ouroHome, 'themes')),
    statusLine: createStatusLine(wiring),
  };
}
