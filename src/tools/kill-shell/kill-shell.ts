import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { ToolFailure } from '../../contracts/tool.ts';
import { firstLine, type Shells } from '../bash/shells.ts';
import { unknownShell } from '../bash-output/bash-output.ts';
import { buildTool } from '../build-tool.ts';
import { sessionFacts } from '../stated-facts.ts';

/** What it says of itself to those who decide about its calls. */
export const killShellStatement: ToolStatement = {
  name: 'KillShell',
  aliases: ['KillBash'],
  facts: sessionFacts,
  served: 'changes',
};

/** Ends a background shell and everything it started, or a sub-agent in the background. */
export function createKillShellTool(shells: Shells, stopAgent: (id: string) => boolean) {
  return buildTool({
    ...killShellStatement,
    prompt: 'Ends a background shell and everything it started, or a sub-agent in the background by its id.',
    input: z.object({ shell_id: z.string() }),
    title: ({ shell_id }) => `End ${shell_id}`,
    async call({ shell_id }) {
      const found = shells.find(shell_id);
      if (found === undefined && stopAgent(shell_id)) return { content: `Ended ${shell_id}.` };
      if (found === undefined) throw new ToolFailure(unknownShell(shell_id, shells));
      if (found.exit !== undefined && !found.shell.leftSomething())
        return { content: `${shell_id} had already ended.` };
      await found.shell.stop();
      return { content: `Ended ${shell_id} (${firstLine(found.command)}).` };
    },
  });
}
