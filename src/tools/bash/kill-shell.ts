import { z } from 'zod';
import { ToolFailure } from '../../contracts/tool.ts';
import { buildTool } from '../definition/build-tool.ts';
import { type BuiltInToolTraits, defineToolTraits } from '../input/call-forms.ts';
import { getSessionOnlyFacts } from '../tool-facts.ts';
import { describeUnknownShell, SHELL_ID_SYNONYMS } from './bash-output.ts';
import { type ShellRegistry, truncateToFirstLine } from './shell-registry.ts';

/** The traits of the KillShell tool. */
export const killShellTraits: BuiltInToolTraits = defineToolTraits({
  name: 'KillShell',
  aliases: ['KillBash'],
  facts: getSessionOnlyFacts,
  served: 'changes',
  forms: {
    names: ['task_stop', 'stop_task', 'kill_task', 'kill_terminal', 'kill_process', 'close_agent'],
    synonyms: { shell_id: [...SHELL_ID_SYNONYMS, 'agent_id'] },
  },
});

/** Creates the KillShell tool, which stops a background shell with its processes, or a background sub-agent. */
export function createKillShellTool(shells: ShellRegistry, stopAgent: (id: string) => boolean) {
  return buildTool({
    ...killShellTraits,
    prompt: 'Ends a background shell, or a background sub-agent, by its id.',
    input: z.strictObject({ shell_id: z.string() }),
    title: ({ shell_id }) => `End ${shell_id}`,
    async call({ shell_id }) {
      const entry = shells.find(shell_id);
      if (entry === undefined && stopAgent(shell_id)) return { content: `Ended ${shell_id}.` };
      if (entry === undefined) throw new ToolFailure(describeUnknownShell(shell_id, shells));
      if (entry.exit !== undefined && !entry.shell.hasLeftProcesses())
        return { content: `${shell_id} had already ended.` };
      await entry.shell.stop();
      return { content: `Ended ${shell_id} (${truncateToFirstLine(entry.command)}).` };
    },
  });
}
