import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { buildTool } from '../build-tool.ts';
import { sessionFacts } from '../stated-facts.ts';

const PROMPT =
  'Shows the user your plan (Markdown: what changes where, in which order, how it is checked) and asks whether to go ahead. Only in planning mode, and only when the plan is complete.';

export type PlanParts = {
  readonly isPlanning: () => boolean;
  readonly setMode: (mode: 'default' | 'acceptEdits') => void;
  readonly keepPlan: (plan: string) => void;
};

/** What it says of itself to those who decide about its calls. */
export const exitPlanModeStatement: ToolStatement = {
  name: 'ExitPlanMode',
  facts: sessionFacts,
  result: 'once',
  subAgents: 'none',
};

/** The plan goes to the user; what they say decides how work goes on. */
export function createExitPlanModeTool(parts: PlanParts) {
  return buildTool({
    ...exitPlanModeStatement,
    prompt: PROMPT,
    input: z.object({ plan: z.string().min(1) }),
    isReadOnly: () => true,
    title: () => 'Plan',
    async call({ plan }, context) {
      if (!parts.isPlanning())
        return { content: 'You are not planning, so there is nothing to leave. Go on with the work.', isError: true };
      const answer = await context.ask({ kind: 'plan', plan });
      const accepted = answer?.kind === 'plan' ? (answer.plan ?? plan) : plan;
      const display = { kind: 'plan' as const, plan: accepted };
      if (answer?.kind !== 'plan') {
        return {
          content: context.signal.aborted
            ? 'The user stopped before saying anything to the plan. Nothing was decided.'
            : 'Nobody is there to accept the plan. Give it as your answer and stop.',
          isError: true,
          display,
        };
      }
      if (answer.verdict === 'keep_planning') {
        const words = answer.words === undefined ? ' ' : ` They say:\n${answer.words}\n`;
        return {
          content: `The user wants to keep planning.${words}Change the plan and show it again.`,
          isError: true,
          display,
        };
      }
      parts.keepPlan(accepted);
      parts.setMode(answer.verdict === 'accept_edits' ? 'acceptEdits' : 'default');
      const changed = accepted === plan ? '' : `\nThe user changed it. This is the plan now:\n${accepted}`;
      return { content: `The user accepted the plan. Start with it.${changed}`, display };
    },
  });
}
