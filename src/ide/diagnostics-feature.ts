import type { Feature } from '../contracts/feature.ts';
import { wrapInReminder } from '../lib/text/reminder.ts';
import type { DiagnosticsTracker } from '../lsp/diagnostics-tracker.ts';
import { listTouchedFiles } from '../tools/touched-files.ts';
import type { EditorDiagnostics } from './editor-files.ts';

/** Creates the feature that tells the model about new diagnostics of language servers and of the editor. */
export function createDiagnosticsFeature(
  tracker: DiagnosticsTracker,
  inEditor: EditorDiagnostics,
  home: string,
): Feature {
  return {
    name: 'diagnostics',
    /** Records the diagnostics before the first write. */
    async beforeCall(request, signal) {
      if (listTouchedFiles(request, { cwd: request.cwd, home }).writes.length > 0) await inEditor.recordBefore(signal);
      return {};
    },
    /** Records the files a call read and wrote. */
    async afterCall(request, outcome) {
      const { reads, writes } = listTouchedFiles(request, { cwd: request.cwd, home });
      if (outcome.isError !== true) {
        if (writes.length > 0) inEditor.recordWrite();
        await Promise.all([...reads.map(tracker.recordRead), ...writes.map(tracker.recordWrite)]);
      }
      return {};
    },
    /** Waits briefly for the servers within a turn. A prompt gets what is reported so far. */
    async reminders(moment, signal) {
      const limit = moment === 'turn' ? signal : AbortSignal.abort();
      const found = await Promise.all([tracker.takeNewDiagnostics(limit), inEditor.takeNewDiagnostics(signal)]);
      return found.flat().map(wrapInReminder);
    },
  };
}
