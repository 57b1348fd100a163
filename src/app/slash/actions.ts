import { usageBreakdown } from '../../context/report/usage-breakdown.ts';
import type { Agent } from '../../contracts/agent.ts';
import type { ContextUsage, Conversation } from '../../contracts/face/conversation.ts';
import type { Effort } from '../../contracts/model.ts';
import { isMode, MODES } from '../../contracts/permission.ts';
import type { HookFire } from '../../hooks/create-hooks.ts';
import { effortProblem } from '../../model/efforts.ts';
import type { Core } from '../core.ts';
import type { Loop } from '../loop/loop.ts';
import { createManualCompact } from '../loop/manual-compact.ts';
import type { TurnLog } from '../loop/turn-log.ts';
import type { Permissions } from '../permissions/permissions.ts';
import type { SessionCheckpoints } from '../session/checkpoints.ts';
import { createChangeReview } from '../session/review-changes.ts';
import { createRewinding } from '../session/rewind.ts';
import type { Session } from '../session/session.ts';
import { createSetModel } from './set-model.ts';

const ASIDE =
  'A question on the side, which does not belong to the task and will be forgotten. Answer it in a few sentences from what you know and see above. Call no tools, and do not go on with the task.';
const ASIDE_MS = 120_000;

type Needs = {
  readonly agent: Agent;
  readonly session: Session;
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly permissions: Pick<Permissions, 'mayBypass'>;
  readonly loop: Loop;
  readonly turnLog: TurnLog;
  readonly hooks: HookFire;
};

/** What people and hosts can do with a conversation, however they say it. */
export type Actions = ReturnType<typeof createActions>;

export function createActions(core: Core, { agent, session, checkpoints, permissions, loop, turnLog, hooks }: Needs) {
  const { live, model: choice, meter } = core;
  const { transcript } = session;
  const rewinding = createRewinding({
    agent,
    transcript,
    checkpoints,
    forget(why) {
      loop.toolset.readState.forgetShown();
      turnLog.expect(why);
    },
  });

  const setModel = createSetModel(core, { learn: loop.learn, turnLog, hooks });

  function setEffort(effort: Effort): ReturnType<Conversation['setEffort']> {
    const now = live.now();
    const why = effortProblem(effort, choice.infoOf(now.model));
    if (why !== undefined) return { ok: false, why };
    if (effort !== now.effort) turnLog.warnOfResend(`Another effort (${effort})`, now.model);
    turnLog.expect(`The effort changed to ${effort}.`);
    live.change({ effort, thinkingTokens: undefined });
    return { ok: true };
  }

  function setMode(mode: string): ReturnType<Conversation['setMode']> {
    if (!isMode(mode)) return { ok: false, why: `There is no mode "${mode}". There are: ${MODES.join(', ')}.` };
    if (mode === 'bypassPermissions' && !permissions.mayBypass) {
      const why = 'Switching permissions off needs the flag --dangerously-skip-permissions at the start.';
      return { ok: false, why };
    }
    live.change({ mode });
    return { ok: true, mode };
  }

  async function contextUsage(): Promise<ContextUsage> {
    const { model } = live.now();
    const prepared = await loop.context.prepare(agent.state().messages);
    await loop.ready();
    return usageBreakdown({
      model,
      windowTokens: choice.infoOf(model).contextWindow,
      compactAt: loop.context.limits(model).compactAt,
      system: loop.prompt.system.parts(),
      tools: loop.toolset.all().map(({ spec, source }) => ({ spec, source })),
      view: prepared.view,
      knownTokens: meter.contextTokens() === 0 ? undefined : meter.contextTokens(),
    });
  }

  /** `/btw`: an answer that knows the conversation and leaves no trace in it. */
  async function askAside(question: string) {
    await loop.ready();
    return loop.context.aside(agent.state().messages, `${ASIDE}\n\n${question}`, AbortSignal.timeout(ASIDE_MS));
  }

  async function rename(title: string): Promise<void> {
    live.change({ title });
    await transcript.append({ type: 'title', title, by: 'person' });
  }

  const compact = createManualCompact(core, { agent, context: loop.context });
  const review = createChangeReview({
    agent,
    checkpoints,
    cwd: () => live.now().cwd,
    newId: core.newId,
    addNews: loop.addNews,
  });
  return { ...rewinding, review, setModel, setEffort, setMode, contextUsage, askAside, rename, compact };
}
