import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import type { Plugin } from '../contracts/extension.ts';
import type { Conversation } from '../contracts/frontend/conversation.ts';
import type { ThemeFile, ThemesPort } from '../contracts/frontend/frontend-settings.ts';
import { ignoreMissingFile } from '../lib/errors.ts';
import { readFileOrPipe } from '../lib/files/read-regular-file.ts';
import { watchFolder } from '../lib/files/watch-folder.ts';
import { saveUserSetting } from './settings-file.ts';
import { createStatusLineScript, type StatusLineDeps } from './status-line-script.ts';

const keybindings = z.record(z.string(), z.string());

/** Creates the part of the conversation that reads and saves screen settings: keys, themes and the status line. */
export function createFrontendSettings(
  deps: StatusLineDeps & { readonly ouroHome: string; readonly plugins: () => readonly Plugin[] },
): Required<Pick<Conversation, 'readFrontendSettings' | 'saveSetting' | 'themes' | 'renderStatusLine'>> {
  return {
    async readFrontendSettings() {
      const settings = deps.settings();
      const file = join(deps.ouroHome, 'keybindings.json');
      const text = await readFileOrPipe(file).catch(() => undefined);
      const parsed = keybindings.safeParse(parse(text ?? '{}', [], { allowTrailingComma: true }));
      // An invalid file is reported as an unknown key.
      const fromFile = parsed.success ? parsed.data : { [file]: 'a table of keys' };
      return { ...settings, keybindings: { ...fromFile, ...settings.keybindings } };
    },
    saveSetting: (key, value) => saveUserSetting(deps.ouroHome, key, value),
    themes: createThemeFiles(join(deps.ouroHome, 'themes'), deps.plugins),
    renderStatusLine: createStatusLineScript(deps),
  };
}

const MAX_FILES = 50;
const MAX_CHARS = 20_000;

/** Reads the theme files of a folder. Those of a plugin have its name as a prefix. */
async function readThemeFiles(folder: string, prefix = ''): Promise<readonly ThemeFile[]> {
  const names = (await ignoreMissingFile(readdir(folder))) ?? [];
  const files = names.filter((name) => name.endsWith('.json')).toSorted();
  return Promise.all(
    files.slice(0, MAX_FILES).map(async (file) => {
      const path = join(folder, file);
      const text = ((await ignoreMissingFile(readFile(path, 'utf8'))) ?? '').slice(0, MAX_CHARS);
      return { name: `${prefix}${basename(file, '.json')}`, path, text };
    }),
  );
}

function createThemeFiles(folder: string, plugins: () => readonly Plugin[]): ThemesPort {
  return {
    async read() {
      const ofPlugins = plugins().map(({ name, root }) => readThemeFiles(join(root, 'themes'), `${name}:`));
      return (await Promise.all([readThemeFiles(folder), ...ofPlugins])).flat();
    },
    watch: (onChange) => watchFolder(folder, onChange),
  };
}
