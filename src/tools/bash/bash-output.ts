import { z } from 'zod';
import { ToolFailure } from '../../contracts/tool.ts';
import type { LinearRegex } from '../../lib/patterns/linear-regex.ts';
import { createEventLoopYielder } from '../../lib/promises.ts';
import { buildTool } from '../definition/build-tool.ts';
import { acceptOnlyArgumentValues, type BuiltInToolTraits, defineToolTraits } from '../input/call-forms.ts';
import { getSessionOnlyFacts } from '../tool-facts.ts';
import { compileLinePattern, describeExit, type ShellRegistry } from './shell-registry.ts';

const PROMPT =
  'Reads what a background shell printed since the last call. filter: only lines that match this expression.';

/** Names of an argument that holds the id of a background shell. */
export const SHELL_ID_SYNONYMS = [
  ...['bash_id', 'task_id', 'id', 'session_id', 'process_id', 'terminal_id', 'command_id', 'shell'],
];

/** The traits of the BashOutput tool. */
export const bashOutputTraits: BuiltInToolTraits = defineToolTraits({
  name: 'BashOutput',
  facts: getSessionOnlyFacts,
  served: 'reads',
  forms: {
    names: [
      ...['task_output', 'get_task_output', 'shell_output', 'get_terminal_output', 'command_status', 'read_output'],
      'write_stdin',
    ],
    synonyms: { shell_id: SHELL_ID_SYNONYMS, filter: ['pattern', 'regex', 'grep'] },
    conversions: {
      chars: acceptOnlyArgumentValues(
        'A background shell takes no input. Start the command again with flags that answer, or with the input in a here-document.',
        '',
      ),
    },
    ignored: ['block', 'timeout', 'wait', 'wait_up_to', 'yield_time_ms', 'max_output_tokens'],
  },
});

/** Creates the BashOutput tool, which returns new output of a background shell. */
export function createBashOutputTool(shells: ShellRegistry) {
  return buildTool({
    ...bashOutputTraits,
    prompt: PROMPT,
    input: z.strictObject({ shell_id: z.string(), filter: z.string().optional() }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ shell_id }) => `Output of ${shell_id}`,
    async call({ shell_id, filter }, { signal }) {
      const entry = shells.find(shell_id);
      if (entry === undefined) throw new ToolFailure(describeUnknownShell(shell_id, shells));
      // The filter is compiled first, because taken output cannot be returned again if it is invalid.
      const pattern = await compileLinePattern(filter);
      const newOutput = entry.shell.output.takeNew();
      const lines = pattern === undefined ? newOutput : await filterLines(newOutput, pattern, signal);
      const state = entry.exit === undefined ? 'still running' : `ended ${describeExit(entry.exit)}`;
      const content = `[${shell_id}: ${state}]\n${lines.trim() === '' ? '(nothing new)' : lines.trimEnd()}`;
      return { content, ...(entry.exit === undefined ? { isPending: true } : {}) };
    },
  });
}

/** Returns the message for a shell id that does not exist. */
export function describeUnknownShell(id: string, shells: ShellRegistry): string {
  const ids = shells.list().map((shell) => shell.id);
  return `There is no background shell ${id}. ${ids.length === 0 ? 'None was started.' : `There are: ${ids.join(', ')}.`}`;
}

/** Returns the matching lines; yields to the event loop in between. */
async function filterLines(text: string, pattern: LinearRegex, signal: AbortSignal): Promise<string> {
  const breathe = createEventLoopYielder();
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    await breathe();
    signal.throwIfAborted();
    if (pattern.test(line)) lines.push(line);
  }
  return lines.join('\n');
}
