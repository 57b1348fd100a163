import type { SubAgentDefinition } from '../../contracts/extension.ts';
import type { Feature } from '../../contracts/feature.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { Tool } from '../../contracts/tool.ts';
import { completeQueryDeps, type QueryDepsInput } from '../../engine/default-deps.ts';
import { selectAgentTools } from '../../extensions/apply-agent.ts';
import { resolveModel } from '../../model/built-in-models.ts';
import { SUB_AGENT_PROMPT } from '../../prompt/system-prompt.ts';
import { editTraits } from '../../tools/edit/edit.ts';
import type { FileReadState } from '../../tools/files/file-read-state.ts';
import { readTraits } from '../../tools/read/read.ts';
import { toolSearchTraits } from '../../tools/tool-search.ts';
import { findBuiltInToolTraits } from '../../tools/tool-traits.ts';
import { writeTraits } from '../../tools/write.ts';
import type { Core } from '../core.ts';
import type { CreateSubAgentContext } from './context-pipeline.ts';
import type { RequestParts } from './request-parts.ts';
import type { SubAgentWorkspace } from './sub-agent-setup.ts';

/** The sub-agent whose query dependencies are created, with its requested model. */
export type QueryingSubAgent = {
  readonly kind: SubAgentDefinition;
  readonly agentId: string;
  readonly model: string | undefined;
  readonly workspace: SubAgentWorkspace;
  /** Its system prompt: instructions, skills and notes. */
  readonly systemPrompt: string;
  /** Tools of MCP servers that only this sub-agent uses. */
  readonly privateTools: readonly Tool[];
  readonly features: readonly Feature[];
  readonly readState: FileReadState;
};

/** Dependencies shared with the conversation, with a gate for this sub-agent. */
export type SharedQueryDeps = Omit<QueryDepsInput, 'model' | 'tools' | 'system'> & {
  readonly config: QueryDeps['config'] | QueryDepsInput['config'];
  readonly gate: QueryDeps['gate'];
};

const NOTE_TOOLS = [readTraits.name, writeTraits.name, editTraits.name];

/** Creates the dependencies of a sub-agent's query. */
export function createSubAgentQueryDeps(
  { live, model }: Core,
  { toolset, owners, prompt }: RequestParts,
  contextFor: CreateSubAgentContext,
  { config, gate: agentGate, ...shared }: SharedQueryDeps,
  {
    kind,
    agentId,
    workspace,
    systemPrompt,
    privateTools,
    readState,
    model: requestedModel = kind.model ?? 'inherit',
  }: QueryingSubAgent,
): QueryDeps {
  const ownModel = requestedModel === 'inherit' ? [] : [{ model: resolveModel(requestedModel) }];
  const chain = [...ownModel, ...config.chain];
  const depth = owners.getDepth(agentId);
  const tools = selectAgentTools(kind, toolset.createForSubAgent(readState, privateTools), {
    depth,
    toolNamed: findBuiltInToolTraits,
    noteTools: NOTE_TOOLS,
  });
  const system = [
    { name: 'core', text: SUB_AGENT_PROMPT },
    { name: 'agent', text: systemPrompt },
    ...prompt.listDynamicParts(),
    ...(workspace.promptText === undefined ? [] : [{ name: 'worktree', text: workspace.promptText }]),
  ];
  const first = chain[0] ?? '';
  const deps = completeQueryDeps({
    ...shared,
    config: {
      ...config,
      ...(kind.effort === undefined ? {} : { effort: kind.effort }),
      maxTurns: kind.maxTurns,
      tokenBudget: undefined,
      chain,
    },
    model: model.port,
    // Without the ToolSearch tool, all tools are sent.
    toolSpecs: tools.some(({ name }) => name === toolSearchTraits.name)
      ? toolset.getSpecs
      : (offered) => offered.flatMap(({ spec, isHidden }) => (isHidden === true ? [] : [spec])),
    cwd: () => owners.getCwd(agentId) ?? live.current().cwd,
    gate(request, hint, signal) {
      owners.assignCall(request.callId, agentId);
      return agentGate({ ...request, agentId }, hint, signal);
    },
    context: contextFor({
      model: () => (typeof first === 'string' ? first : first.model),
      system: () => system,
      tools: () => tools,
      listSpecs: () => tools.map(({ spec }) => spec),
      readState,
    }),
  });
  return { ...deps, system: () => system, tools: () => tools };
}
