import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { breather, type LinearRegex } from '../../lib/patterns/linear-regex.ts';
import { endOf, linePattern, type Shells } from '../bash/shells.ts';
import { buildTool } from '../build-tool.ts';
import { sessionFacts } from '../stated-facts.ts';

const PROMPT =
  'Reads what a background shell printed since it was last read, and whether it still runs. filter is a regular expression: only lines that match are shown.';

/** What it says of itself to those who decide about its calls. */
export const bashOutputStatement: ToolStatement = { name: 'BashOutput', facts: sessionFacts, served: 'reads' };

/** New output of a shell in the background. */
export function createBashOutputTool(shells: Shells) {
  return buildTool({
    ...bashOutputStatement,
    prompt: PROMPT,
    input: z.object({ shell_id: z.string(), filter: z.string().optional() }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ shell_id }) => `Output of ${shell_id}`,
    async call({ shell_id, filter }, { signal }) {
      const found = shells.find(shell_id);
      if (found === undefined) throw new ToolFailure(unknownShell(shell_id, shells));
      // The filter is read first: output that was taken is not there a second time.
      const fits = await linePattern(filter);
      const fresh = found.shell.output.takeNew();
      const lines = fits === undefined ? fresh : await fittingLines(fresh, fits, signal);
      const state = found.exit === undefined ? 'still running' : `ended ${endOf(found.exit)}`;
      return { content: `[${shell_id}: ${state}]\n${lines.trim() === '' ? '(nothing new)' : lines.trimEnd()}` };
    },
  });
}

export function unknownShell(id: string, shells: Shells): string {
  const known = shells.list().map((shell) => shell.id);
  return `There is no background shell ${id}. ${known.length === 0 ? 'None was started.' : `There are: ${known.join(', ')}.`}`;
}

/** The lines that fit, looked for in pieces so that keys are heard meanwhile. */
async function fittingLines(text: string, fits: LinearRegex, signal: AbortSignal): Promise<string> {
  const breathe = breather();
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    await breathe();
    signal.throwIfAborted();
    if (fits.test(line)) lines.push(line);
  }
  return lines.join('\n');
}
