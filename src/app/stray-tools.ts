import { nearest } from '../lib/text/nearest.ts';
import { KNOWN_TOOLS } from '../permissions/facts.ts';

/** A sentence for each name that no tool has. Tools of MCP servers are only known once those are connected. */
export function strayTools(names: readonly string[]): readonly string[] {
  return names
    .filter((name) => !KNOWN_TOOLS.includes(name) && !name.startsWith('mcp__') && name !== 'Agent')
    .map((name) => {
      const meant = nearest(name, KNOWN_TOOLS);
      return `There is no tool ${name}, so --tools cannot offer it.${meant === undefined ? '' : ` Did you mean ${meant}?`}`;
    });
}
