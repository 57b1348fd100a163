import { z } from 'zod';
import { buildTool } from './definition/build-tool.ts';
import { describeUnansweredQuestion } from './describe-unanswered-question.ts';
import { type BuiltInToolTraits, defineToolTraits } from './input/call-forms.ts';
import { getSessionOnlyFacts } from './tool-facts.ts';

/** The traits of the EnterPlanMode tool. */
export const enterPlanModeTraits: BuiltInToolTraits = defineToolTraits({
  name: 'EnterPlanMode',
  facts: getSessionOnlyFacts,
  subAgents: 'none',
  forms: { names: ['plan_mode', 'start_plan_mode', 'plan_enter'], synonyms: {}, ignored: ['reason', 'task'] },
});

/** Creates the tool that starts plan mode. */
export function createEnterPlanModeTool(setMode: (mode: 'plan') => void) {
  return buildTool({
    ...enterPlanModeTraits,
    deferred: true,
    prompt: 'Switches to planning: you only read and think until the user accepts a plan. For large or risky changes.',
    input: z.strictObject({}),
    isReadOnly: () => true,
    title: () => 'Plan first',
    async call() {
      setMode('plan');
      return { content: 'Planning. Read what you need, change nothing, then call ExitPlanMode with the plan.' };
    },
  });
}

const PROMPT =
  'Shows the user your complete plan (Markdown: what changes where, in which order, how it is checked) and asks whether to go ahead. Only in planning mode.';

/** Dependencies of the ExitPlanMode tool. */
type PlanModeDeps = {
  readonly isPlanning: () => boolean;
  readonly setMode: (mode: 'default' | 'acceptEdits') => void;
  readonly savePlan: (plan: string) => void;
};

/** The traits of the ExitPlanMode tool. */
export const exitPlanModeTraits: BuiltInToolTraits = defineToolTraits({
  name: 'ExitPlanMode',
  facts: getSessionOnlyFacts,
  result: 'once',
  subAgents: 'none',
  forms: {
    names: ['submit_plan', 'present_plan', 'plan_exit', 'plan_mode_respond'],
    synonyms: { plan: ['plan_markdown', 'markdown', 'content', 'response', 'text'] },
    ignored: ['options', 'allowed_prompts', 'needs_more_exploration'],
  },
});

/** Creates the ExitPlanMode tool, which asks the user to accept a plan. */
export function createExitPlanModeTool(deps: PlanModeDeps) {
  return buildTool({
    ...exitPlanModeTraits,
    prompt: PROMPT,
    input: z.strictObject({ plan: z.string().min(1) }),
    isReadOnly: () => true,
    title: () => 'Plan',
    async call({ plan }, context) {
      if (!deps.isPlanning())
        return { content: 'You are not planning, so there is nothing to leave. Go on with the work.', isError: true };
      const answer = await context.ask({ kind: 'plan', plan });
      const accepted = answer?.kind === 'plan' ? (answer.plan ?? plan) : plan;
      const display = { kind: 'plan' as const, plan: accepted };
      if (answer?.kind === 'refused') {
        const content = `${describeUnansweredQuestion(answer)} The plan is not accepted; keep planning.`;
        return { content, isError: true, display };
      }
      if (answer?.kind !== 'plan') {
        return {
          content: context.signal.aborted
            ? 'The user stopped before saying anything to the plan. Nothing was decided.'
            : 'This run cannot ask the user to accept the plan. Give it as your answer and stop.',
          isError: true,
          display,
        };
      }
      if (answer.verdict === 'keep_planning') {
        const feedback = answer.words === undefined ? ' ' : ` They say:\n${answer.words}\n`;
        return {
          content: `The user wants to keep planning.${feedback}Change the plan and show it again.`,
          isError: true,
          display,
        };
      }
      deps.savePlan(accepted);
      deps.setMode(answer.verdict === 'accept_edits' ? 'acceptEdits' : 'default');
      const changeNote = accepted === plan ? '' : `\nThe user changed it. This is the plan now:\n${accepted}`;
      return { content: `The user accepted the plan. Start with it.${changeNote}`, display };
    },
  });
}
