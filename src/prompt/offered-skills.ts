import { relative } from 'node:path';
import type { AgentEvent } from '../contracts/event.ts';
import type { Skill } from '../contracts/extension.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import { listTouchedFiles } from '../tools/touched-files.ts';
import { isMatchedByGlobs } from './memory/session-memory-files.ts';

/** The skills that are offered to the model; a feature, because touched files add to them. */
export type OfferedSkills = {
  readonly name: string;
  list(): readonly Skill[];
  onEvent(event: AgentEvent): void;
};

/** Creates the skills that are offered to the model: those with `paths` after a matching file was touched. */
export function createOfferedSkills(
  { live, cwd, environment }: SessionCore,
  listSkills: () => readonly Skill[],
): OfferedSkills {
  const activated = new Set<string>();
  return {
    name: 'offered skills',
    list: () =>
      listSkills().filter(
        ({ callers, paths, path }) => callers !== 'people' && (paths.length === 0 || activated.has(path)),
      ),
    onEvent(event) {
      if (event.type !== 'tool_start') return;
      const { reads, writes } = listTouchedFiles(event, { cwd: live.current().cwd, home: environment.home });
      const touched = [...reads, ...writes].map((path) => relative(cwd, path));
      for (const { paths, path } of listSkills())
        if (touched.some((file) => isMatchedByGlobs(paths, file))) activated.add(path);
    },
  };
}
