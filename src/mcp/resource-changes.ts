import { sanitizeUntrustedLine } from '../lib/text/sanitize.ts';

const MAX_NAMED = 20;
const NAME_CHARS = 300;

/** Describes changed resources to the model, as one message. */
export function describeResourceChanges(changed: readonly string[]): readonly string[] {
  if (changed.length === 0) return [];
  const named = changed.slice(0, MAX_NAMED).map((name) => sanitizeUntrustedLine(name, NAME_CHARS));
  const more = changed.length > MAX_NAMED ? ` and ${changed.length - MAX_NAMED} more` : '';
  return [
    `Resources of MCP servers have changed since they were read: ${named.join(', ')}${more}. Read them again where it matters.`,
  ];
}
