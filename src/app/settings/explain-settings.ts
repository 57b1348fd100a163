import { realpath } from 'node:fs/promises';
import type { Environment } from '../../contracts/environment.ts';
import type { SettingsProblem } from '../../contracts/settings.ts';
import { keyLine, keysNamed, publishedSchema } from '../../settings/keys.ts';
import { explain } from '../../settings/merge.ts';
import { problemLines } from '../../settings/problem-lines.ts';
import { folderTrust } from './folder-trust.ts';
import { readSettings } from './read-settings.ts';

/** Every value that counts in a folder, with the layer it came from; and what a key that was named is about. */
export async function explainSettings(environment: Environment, folder: string, key: string | undefined) {
  const cwd = await realpath(folder);
  const trust = await folderTrust(cwd, environment, undefined);
  const loaded = await readSettings({ cwd }, environment, trust.trusted, trust.approves);
  const about = key === undefined ? [] : keysNamed(key).map(keyLine);
  return {
    values: explain(loaded.layers, key),
    about,
    problems: problemLines({ problems: loaded.problems.map(whole) }, { problems: [] }),
  };
}

/** Where there is room for it, all is named that is not used. */
function whole(problem: SettingsProblem): SettingsProblem {
  const { unused } = problem;
  return unused === undefined
    ? problem
    : { ...problem, text: `has keys that ouro does not use: ${unused.join(', ')}.` };
}

/** The JSON Schema of a settings file, for editors. */
export function settingsSchemaText(): string {
  return JSON.stringify(publishedSchema(), null, 2);
}
