import { relative, resolve } from 'node:path';
import type { AgentEvent } from '../../../contracts/event.ts';
import type { Skill } from '../../../contracts/extension.ts';
import { isJsonObject } from '../../../contracts/json.ts';
import { matchesGlobs } from '../../../prompt/memory/memory-files.ts';
import type { Core } from '../../core.ts';

/** The skills the model is told of: those it may call, and of those that wait for a file only whose file was worked on. */
export type OfferedSkills = {
  now(): readonly Skill[];
  hear(event: AgentEvent): void;
};

export function createOfferedSkills({
  extensions,
  live,
  cwd,
}: Pick<Core, 'extensions' | 'live' | 'cwd'>): OfferedSkills {
  const met = new Set<string>();
  return {
    now: () =>
      extensions
        .now()
        .skills.filter(({ callers, paths, path }) => callers !== 'people' && (paths.length === 0 || met.has(path))),
    hear(event) {
      if (event.type !== 'tool_start' || !isJsonObject(event.input)) return;
      const touched = event.input.file_path ?? event.input.notebook_path;
      if (typeof touched !== 'string') return;
      const way = relative(cwd, resolve(live.now().cwd, touched));
      for (const { paths, path } of extensions.now().skills)
        if (!met.has(path) && paths.length > 0 && matchesGlobs(paths, way)) met.add(path);
    },
  };
}
