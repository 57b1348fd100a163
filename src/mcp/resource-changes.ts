import { wrapInReminder } from '../lib/text/reminder.ts';
import { sanitizeUntrustedLine } from '../lib/text/sanitize.ts';

const MAX_NAMED = 20;
const NAME_CHARS = 300;

/** Creates the feature that tells the model which resources have changed, in one message. */
export function createResourceChanges() {
  const changed = new Set<string>();
  return {
    name: 'MCP resources',
    add: (server: string, uri: string) => void changed.add(`${server}:${uri}`),
    async reminders(): Promise<readonly string[]> {
      if (changed.size === 0) return [];
      const named = [...changed].slice(0, MAX_NAMED).map((name) => sanitizeUntrustedLine(name, NAME_CHARS));
      const more = changed.size > MAX_NAMED ? ` and ${changed.size - MAX_NAMED} more` : '';
      changed.clear();
      return [
        wrapInReminder(
          `Resources of MCP servers have changed since they were read: ${named.join(', ')}${more}. Read them again where it matters.`,
        ),
      ];
    },
  };
}
