import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { buildTool } from '../build-tool.ts';
import { sessionFacts } from '../stated-facts.ts';

/** What it says of itself to those who decide about its calls. */
export const enterPlanModeStatement: ToolStatement = { name: 'EnterPlanMode', facts: sessionFacts, subAgents: 'none' };

/** From looking and doing to looking only. */
export function createEnterPlanModeTool(setMode: (mode: 'plan') => void) {
  return buildTool({
    ...enterPlanModeStatement,
    prompt:
      'Switches to planning: from here on you only read and think, until the user has accepted a plan (ExitPlanMode). Use it for large or risky changes whose way is not obvious.',
    input: z.object({}),
    isReadOnly: () => true,
    title: () => 'Plan first',
    async call() {
      setMode('plan');
      return { content: 'Planning. Read what you need, change nothing, then call ExitPlanMode with the plan.' };
    },
  });
}
