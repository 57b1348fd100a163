import { join } from 'node:path';
import type { AgentEvent } from '../contracts/event.ts';
import type { RunOptions } from '../contracts/run-options.ts';
import type { Environment } from './environment.ts';
import type { FolderTrust } from './folder-trust.ts';
import { createFreshness } from './fresh-files.ts';
import { loadExtensions } from './load-extensions.ts';
import { problemLines } from './problem-lines.ts';
import { readSettings } from './read-settings.ts';

const FOLDERS = ['commands', 'skills', 'agents', 'output-styles'];
const SETTINGS = ['settings.json', 'settings.local.json'];

export type LiveFilesParts = {
  readonly given: RunOptions;
  readonly environment: Environment;
  readonly cwd: string;
  readonly trust: FolderTrust;
  readonly tell: (event: AgentEvent) => Promise<void>;
};

/** Settings and extensions as they stand in their files: read again once a file changed, asked at every prompt. */
export async function openLiveFiles({ given, environment, cwd, trust, tell }: LiveFilesParts) {
  const { ouroHome } = environment;
  const { trusted } = trust;
  const readLayers = () => readSettings({ ...given, cwd }, environment, trusted, trust.approves);
  const readFiles = async () => trust.lent(await loadExtensions({ cwd, ouroHome, trusted, agentsFlag: given.agents }));
  const own = join(cwd, '.claude');
  const settingsFiles = createFreshness([
    join(ouroHome, 'settings.json'),
    ...(trusted ? SETTINGS.map((name) => join(own, name)) : []),
  ]);
  const folders = createFreshness([
    ...FOLDERS.map((name) => join(ouroHome, name)),
    ...(trusted ? FOLDERS.map((name) => join(own, name)) : []),
  ]);
  let [loaded, extensions] = await Promise.all([readLayers(), readFiles()]);

  async function readExtensions(): Promise<void> {
    extensions = await readFiles();
  }

  return {
    loaded: () => loaded,
    extensions: () => extensions,
    readExtensions,
    async refresh(): Promise<void> {
      const [newSettings, newExtensions] = await Promise.all([settingsFiles.changed(), folders.changed()]);
      if (newExtensions) await readExtensions();
      if (!newSettings) return;
      loaded = await readLayers();
      const problems = problemLines(loaded, { problems: [] });
      const text = problems.join('\n');
      if (text !== '') await tell({ type: 'notice', level: 'warn', topic: 'settings', text });
    },
  };
}

export type LiveFiles = Awaited<ReturnType<typeof openLiveFiles>>;
