import type { Feature } from '../../contracts/feature.ts';
import { wrapInReminder } from '../../lib/text/reminder.ts';
import { listTouchedFiles } from '../../tools/touched-files.ts';
import { type MemoryFile, renderMemoryFile } from './render-memory.ts';
import type { SessionMemory } from './session-memory-files.ts';

/** Creates the feature that gives the model the instructions for files it touches, and changed instructions. */
export function createMemoryFeature(
  memory: Pick<SessionMemory, 'touch' | 'changed' | 'compacted'>,
  { cwd, home }: { readonly cwd: () => string; readonly home: string },
): Feature {
  let touched = new Set<string>();
  return {
    name: 'memory',
    onEvent(event) {
      if (event.type === 'compacted') memory.compacted();
      if (event.type !== 'tool_start') return;
      const { reads, writes } = listTouchedFiles(event, { cwd: cwd(), home });
      for (const path of [...reads, ...writes]) touched.add(path);
    },
    async reminders() {
      const paths = [...touched];
      touched = new Set();
      const loaded = await memory.touch(paths);
      const changed = await memory.changed();
      return [
        ...loaded.map((file) => `Instructions for the files you touched:\n\n${renderMemoryFile(file)}`),
        ...changed.map(describeChange),
      ].map(wrapInReminder);
    },
  };
}

function describeChange(file: MemoryFile): string {
  return file.text === '' && file.excludedReason === undefined
    ? `The instructions in ${file.path} are gone; they no longer apply.`
    : `These instructions were changed; this is how they read now:\n\n${renderMemoryFile(file)}`;
}
