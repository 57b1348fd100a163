import type { AgentPort } from '../../agent/parts.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { LiveState } from '../../contracts/live.ts';
import type { ModelInfo, ModelPort, SystemPart } from '../../contracts/model.ts';
import type { ContextPort, QueryDeps } from '../../contracts/query.ts';
import type { Settings } from '../../contracts/settings.ts';
import type { Tool } from '../../contracts/tool.ts';
import { queryDeps } from '../../engine/defaults.ts';
import { modelChain } from '../../model/model-chain.ts';
import { thinkingEffort } from '../../model/thinking-effort.ts';

/** The parts of a conversation that the loop touches. */
export type DepsParts = {
  readonly options: RunOptions;
  readonly settings: () => Settings;
  readonly live: LiveState;
  readonly model: ModelPort;
  readonly infoOf: (model: string) => ModelInfo;
  readonly system: () => readonly SystemPart[];
  readonly tools: () => readonly Tool[];
  readonly context?: ContextPort;
  readonly costUsd: () => number;
  readonly overrides: (
    port: AgentPort,
  ) => Partial<
    Pick<
      QueryDeps,
      | 'gate'
      | 'beforeCall'
      | 'afterCall'
      | 'onStop'
      | 'capResult'
      | 'attachments'
      | 'summarizeCalls'
      | 'toolSpecs'
      | 'transformRequest'
    >
  >;
  readonly newId: () => string;
  readonly now: () => number;
};

/** A fresh snapshot of dependencies for one query. */
export function makeDeps(parts: DepsParts): (port: AgentPort) => QueryDeps {
  return (port) => {
    const { options, live } = parts;
    const settings = parts.settings();
    const { model, effort, thinkingTokens } = live.now();
    const system = parts.system();
    return {
      ...queryDeps({
        model: parts.model,
        modelInfo: parts.infoOf,
        config: {
          chain: modelChain(model, options, settings).map((name) => ({ model: name })),
          effort: thinkingEffort(effort, thinkingTokens),
          thinkingBudgetTokens: thinkingTokens,
          maxTurns: options.maxTurns,
          maxBudgetUsd: options.maxBudgetUsd,
          tokenBudget: options.tokenBudget,
          autoCompact: settings.autoCompact ?? true,
          partialMessages: options.partialMessages,
          betas: options.betas ?? [],
        },
        cwd: () => live.now().cwd,
        ask: port.ask,
        queues: port.queues,
        onWait: port.onWait,
        costUsd: parts.costUsd,
        newId: parts.newId,
        now: parts.now,
        ...(parts.context === undefined ? {} : { context: parts.context }),
        ...parts.overrides(port),
      }),
      system: () => system,
      tools: parts.tools,
    };
  };
}
