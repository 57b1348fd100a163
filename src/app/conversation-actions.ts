import { createChangeReview } from '../checkpoints/review-changes.ts';
import { computeContextUsage } from '../context/report/context-usage.ts';
import type { TurnLog } from '../context/report/turn-log.ts';
import type { Agent } from '../contracts/agent.ts';
import type { ContextUsage, Conversation } from '../contracts/frontend/conversation.ts';
import type { Effort } from '../contracts/model.ts';
import { isPermissionMode, PERMISSION_MODES } from '../contracts/permission.ts';
import type { HookDispatcher } from '../hooks/create-hooks.ts';
import { explainReplacedEffort, explainUnsupportedEffort } from '../model/efforts.ts';
import { createRewind } from '../session/rewind.ts';
import type { Session } from '../session/session.ts';
import type { SessionCheckpoints } from '../session/session-checkpoints.ts';
import type { Core } from './core.ts';
import type { AgentLoopParts } from './loop/agent-loop-parts.ts';
import { createManualCompaction } from './loop/context-pipeline.ts';
import type { SessionPermissions } from './permissions/session-permissions.ts';

const SIDE_QUESTION_PROMPT =
  'A question on the side, which does not belong to the task and will be forgotten. Answer it in a few sentences from what you know and see above. Call no tools, and do not go on with the task.';
const SIDE_QUESTION_TIMEOUT_MS = 120_000;

type ActionDeps = {
  readonly agent: Agent;
  readonly session: Session;
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly permissions: SessionPermissions;
  readonly loop: AgentLoopParts;
  readonly turnLog: TurnLog;
  readonly hooks: HookDispatcher;
};

/** The operations on a conversation that commands, hosts and frontends share. */
export type ConversationActions = ReturnType<typeof createConversationActions>;

/** Creates the operations that commands, hosts and frontends share. */
export function createConversationActions(
  core: Core,
  { agent, session, checkpoints, permissions, loop, turnLog, hooks }: ActionDeps,
) {
  const { live, model: choice, meter } = core;
  const { transcript } = session;
  const rewinding = createRewind({
    agent,
    transcript,
    checkpoints,
    forget: turnLog.expectCacheMiss,
    onLinesChanged: meter.addLines,
  });

  const setModel = createSetModel(core, { lookUpModels: loop.fallbacks.lookUpModels, turnLog, hooks });

  function setEffort(effort: Effort): ReturnType<Conversation['setEffort']> {
    const current = live.current();
    const problem = explainUnsupportedEffort(effort, choice.infoOf(current.model));
    if (problem !== undefined) return { ok: false, problem };
    turnLog.expectCacheMiss(`The effort changed to ${effort}.`);
    live.update({ effort, thinkingTokens: undefined });
    return { ok: true, resend: effort === current.effort ? undefined : turnLog.describeResend(current.model) };
  }

  function setMode(mode: string): ReturnType<Conversation['setMode']> {
    if (!isPermissionMode(mode))
      return { ok: false, problem: `Unknown mode "${mode}". Valid modes: ${PERMISSION_MODES.join(', ')}.` };
    if (mode === 'bypassPermissions' && !permissions.canBypass) {
      const problem = 'Bypass mode needs the flag --dangerously-skip-permissions at the start.';
      return { ok: false, problem };
    }
    live.update({ mode });
    return { ok: true, mode };
  }

  async function contextUsage(): Promise<ContextUsage> {
    const { model } = live.current();
    const prepared = await loop.context.prepare(agent.state().messages);
    await loop.ready();
    return computeContextUsage({
      model,
      windowTokens: choice.infoOf(model).contextWindow,
      compactAt: loop.context.limits(model).compactAt,
      system: loop.prompt.system.parts(),
      tools: loop.toolset.listEnabled().map(({ spec, source }) => ({ spec, source })),
      view: prepared.view,
      knownTokens: meter.getContextTokens() === 0 ? undefined : meter.getContextTokens(),
    });
  }

  /** Asks a side question (`/btw`) about the conversation without adding to it. */
  async function askSideQuestion(question: string) {
    await loop.ready();
    return loop.context.askSideQuestion(
      agent.state().messages,
      `${SIDE_QUESTION_PROMPT}\n\n${question}`,
      AbortSignal.timeout(SIDE_QUESTION_TIMEOUT_MS),
    );
  }

  async function rename(title: string): Promise<void> {
    live.update({ title });
    await transcript.append({ type: 'title', title, by: 'person' });
  }

  const compact = createManualCompaction(core, { agent, context: loop.context });
  const review = createChangeReview({
    agent,
    checkpoints,
    cwd: () => live.current().cwd,
    locks: core.locks,
    newId: core.newId,
    inbox: core.inbox,
  });
  return { ...rewinding, review, setModel, setEffort, setMode, contextUsage, askSideQuestion, rename, compact };
}

const HOOK_TIMEOUT_MS = 60_000;

type SetModelDeps = {
  readonly lookUpModels: AgentLoopParts['fallbacks']['lookUpModels'];
  readonly turnLog: TurnLog;
  readonly hooks: HookDispatcher;
};

/** Creates the model switch, which takes effect from the next turn on. Unusable models are refused with the reason. */
function createSetModel(core: Core, { lookUpModels, turnLog, hooks }: SetModelDeps): Conversation['setModel'] {
  const { live, model: choice } = core;
  return async (name) => {
    if (name?.trim() === '') return { ok: false, problem: 'The model name is empty.' };
    const found = name === undefined ? { ok: true as const, model: choice.model } : choice.findModel(name);
    if (!found.ok) return { ok: false, problem: found.problem };
    const { model } = found;
    const unlisted = await choice.explainUnlisted(model);
    if (unlisted !== undefined) return { ok: false, problem: unlisted };
    const refusal = await findRefusal(live.current().model, model, hooks);
    if (refusal !== undefined) return { ok: false, problem: refusal };
    const resend = model === live.current().model ? undefined : turnLog.describeResend(model);
    turnLog.expectCacheMiss(`The model changed to ${model}.`);
    await lookUpModels([model]);
    live.update({ model });
    warnAboutEffort(core);
    return { ok: true, model, resend };
  };
}

/** Returns the reason if a PreModelSwitch hook refuses the model. */
async function findRefusal(from: string, to: string, hooks: HookDispatcher): Promise<string | undefined> {
  if (from === to || !hooks.has('PreModelSwitch')) return undefined;
  const fields = { from_model: from, to_model: to, requested_model: to };
  const { blocked, permission } = await hooks.fire('PreModelSwitch', fields, AbortSignal.timeout(HOOK_TIMEOUT_MS));
  return (
    blocked ??
    (permission?.decision === 'deny' ? permission.reason || `${permission.by} denied the switch.` : undefined)
  );
}

/** Warns if the model does not support the current effort. */
function warnAboutEffort({ live, model: { infoOf }, bus }: Core): void {
  const { effort, model } = live.current();
  const text = explainReplacedEffort(effort, infoOf(model));
  if (text !== undefined) void bus.emit({ type: 'notice', level: 'warn', topic: 'effort', text });
}
