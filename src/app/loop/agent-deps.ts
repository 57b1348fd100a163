import type { AgentKind } from '../../contracts/extension.ts';
import type { ContextPort, QueryDeps } from '../../contracts/query.ts';
import type { Tool } from '../../contracts/tool.ts';
import { type QueryDepsInput, queryDeps } from '../../engine/defaults.ts';
import { toolsOfAgent } from '../../extensions/tools-of-agent.ts';
import { resolveModel } from '../../model/catalog.ts';
import { editStatement } from '../../tools/edit/edit.ts';
import { readStatement } from '../../tools/read/read.ts';
import { createReadState } from '../../tools/read-state.ts';
import { toolNamed } from '../../tools/statements.ts';
import type { CallOwners } from '../../tools/task/call-owners.ts';
import { toolSearchStatement } from '../../tools/tool-search/tool-search.ts';
import { writeStatement } from '../../tools/write/write.ts';
import type { Core } from '../core.ts';
import type { AgentPlace } from './agents/agent-place.ts';
import type { AgentContext } from './context.ts';
import type { Prompt } from './prompt.ts';
import type { Toolset } from './toolset.ts';

/** Which sub-agent asks, and the model it was wanted with. */
export type SubAgentAsking = {
  readonly kind: AgentKind;
  readonly agentId: string;
  readonly model: string | undefined;
  readonly place: AgentPlace;
  /** What it knows from the start. */
  readonly words: string;
  /** Tools of servers that are its own. */
  readonly ownTools: readonly Tool[];
  /** A hook asked for it, so no hook that asks a sub-agent hears of it. */
  readonly isOfHook: boolean;
};

export type AgentNeeds = {
  readonly toolset: Toolset;
  readonly owners: CallOwners;
  readonly prompt: Prompt;
  readonly contextFor: (agent: AgentContext) => ContextPort;
};

/** What it has in common with the conversation; its gate knows where it works. */
type Common = Omit<QueryDepsInput, 'model' | 'tools' | 'system'> & {
  readonly config: QueryDeps['config'] | QueryDepsInput['config'];
  readonly gate: QueryDeps['gate'];
};

const NOTE_TOOLS = [readStatement.name, writeStatement.name, editStatement.name];

/** What a query of a sub-agent depends on. */
export function agentDeps(
  { live, model }: Pick<Core, 'live' | 'model'>,
  { toolset, owners, prompt, contextFor }: AgentNeeds,
  { config, gate: own, ...common }: Common,
  { kind, agentId, place, words, ownTools, model: wanted = kind.model ?? 'inherit' }: SubAgentAsking,
): QueryDeps {
  const chain = [...(wanted === 'inherit' ? [] : [{ model: resolveModel(wanted) }]), ...config.chain];
  const reads = createReadState();
  const depth = owners.depthOf(agentId);
  const tools = toolsOfAgent(kind, toolset.forAgent(reads, ownTools), { depth, toolNamed, noteTools: NOTE_TOOLS });
  const system = [
    { name: 'agent', text: words },
    ...prompt.place(),
    ...(place.words === undefined ? [] : [{ name: 'worktree', text: place.words }]),
  ];
  const first = chain[0] ?? '';
  const deps = queryDeps({
    ...common,
    config: {
      ...config,
      ...(kind.effort === undefined ? {} : { effort: kind.effort }),
      maxTurns: kind.maxTurns,
      tokenBudget: undefined,
      chain,
    },
    model: model.port,
    // Who cannot search for tools is sent all it may use.
    toolSpecs: tools.some(({ name }) => name === toolSearchStatement.name)
      ? toolset.specs
      : (offered) => offered.map(({ spec }) => spec),
    cwd: () => owners.cwdOf(agentId) ?? live.now().cwd,
    gate(request, hint, signal) {
      owners.claim(request.callId, agentId);
      return own({ ...request, agentId }, hint, signal);
    },
    context: contextFor({ model: typeof first === 'string' ? first : first.model, system, tools, reads }),
  });
  return { ...deps, system: () => system, tools: () => tools };
}
