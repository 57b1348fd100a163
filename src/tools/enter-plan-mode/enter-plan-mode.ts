import { z } from 'zod';
import { buildTool } from '../build-tool.ts';

/** From looking and doing to looking only. */
export function createEnterPlanModeTool(setMode: (mode: 'plan') => void) {
  return buildTool({
    name: 'EnterPlanMode',
    prompt:
      'Switches to planning: from here on you only read and think, until the user has accepted a plan (ExitPlanMode). Use it for large or risky changes whose way is not obvious.',
    input: z.object({}),
    isReadOnly: () => true,
    isDestructive: () => false,
    title: () => 'Plan first',
    async call() {
      setMode('plan');
      return { content: 'Planning. Read what you need, change nothing, then call ExitPlanMode with the plan.' };
    },
  });
}
