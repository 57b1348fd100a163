import { relative } from 'node:path';
import type { AgentEvent } from '../contracts/event.ts';
import type { Skill } from '../contracts/extension.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import { listTouchedFiles } from '../tools/touched-files.ts';
import { isMatchedByGlobs } from './memory/session-memory-files.ts';

/** Creates the skills that are offered to the model: those with `paths` after a matching file was touched. */
export function createOfferedSkills({ live, cwd, environment }: SessionCore, listSkills: () => readonly Skill[]) {
  const activated = new Set<string>();
  return {
    name: 'offered skills',
    list: (): readonly Skill[] =>
      listSkills().filter(
        ({ callers, paths, path }) => callers !== 'people' && (paths.length === 0 || activated.has(path)),
      ),
    onEvent(event: AgentEvent): void {
      if (event.type !== 'tool_start') return;
      const { reads, writes } = listTouchedFiles(event, { cwd: live.current().cwd, home: environment.home });
      const touched = [...reads, ...writes].map((path) => relative(cwd, path));
      for (const { paths, path } of listSkills())
        if (touched.some((file) => isMatchedByGlobs(paths, file))) activated.add(path);
    },
  };
}
