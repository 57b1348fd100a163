import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { nearest } from '../../lib/text/nearest.ts';
import type { FlagValues } from './flags.ts';
import { jsonObjectOf } from './read-flags.ts';
import { UsageError } from './usage-error.ts';

const SOURCES = ['user', 'project', 'local'];

/** Whatever a flag points at must be there: a run without it would not be the run that was asked for. */
export async function checkSources(flags: FlagValues, cwd: string): Promise<void> {
  for (const name of flags.settingSources ?? []) {
    if (SOURCES.includes(name)) continue;
    const meant = nearest(name, SOURCES);
    const help = meant === undefined ? 'There are user, project and local.' : `Did you mean ${meant}?`;
    throw new UsageError(`Option --setting-sources: there is no source "${name}". ${help}`);
  }
  if (flags.settings !== undefined) await checkFileOrJson('--settings', flags.settings, cwd);
  for (const one of flags.mcpConfig ?? []) await checkFileOrJson('--mcp-config', one, cwd);
  for (const dir of flags.addDir ?? []) {
    if (!(await isA('directory', resolve(cwd, dir)))) throw new UsageError(`Option --add-dir: ${dir} is no folder.`);
  }
}

async function checkFileOrJson(flag: string, text: string, cwd: string): Promise<void> {
  if (text.trimStart().startsWith('{')) {
    jsonObjectOf(flag, text);
    return;
  }
  if (!(await isA('file', resolve(cwd, text)))) throw new UsageError(`Option ${flag}: there is no file ${text}.`);
}

async function isA(kind: 'file' | 'directory', path: string): Promise<boolean> {
  try {
    const facts = await stat(path);
    return kind === 'directory' ? facts.isDirectory() : !facts.isDirectory();
  } catch {
    return false;
  }
}
