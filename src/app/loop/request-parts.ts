import type { McpServers } from '../../mcp/session-servers.ts';
import { createModelFallbacks, type ModelFallbacks } from '../../model/model-fallbacks.ts';
import { type AutoModeJudge, createAutoModeJudge } from '../../permissions/auto-mode-judge.ts';
import { createOfferedSkills, type OfferedSkills } from '../../prompt/offered-skills.ts';
import { createSessionSystemPrompt, type SessionSystemPrompt } from '../../prompt/session-system-prompt.ts';
import { getPromptPartText } from '../../prompt/system-prompt-state.ts';
import { createSearchBackend, excludeHungMountsFromSearch } from '../../tools/search/create-search-backend.ts';
import type { FileSearchBackend } from '../../tools/search/search-backend.ts';
import { createSubAgentCallRegistry, type SubAgentCallRegistry } from '../../tools/task/sub-agent-call-registry.ts';
import type { Core } from '../core.ts';
import { createInstructionReadGate } from '../permissions/instruction-read-gate.ts';
import { MANAGED_SETTINGS_DIR } from '../read-settings.ts';
import type { BuiltInToolDeps } from './built-in-tools.ts';
import { createToolset, type Toolset } from './toolset.ts';

/** The parts that requests are made from: the tools, the system prompt and the models; with the judge of calls. */
export type RequestParts = {
  readonly locator: FileSearchBackend;
  /** The sub-agents that running calls belong to. */
  readonly owners: SubAgentCallRegistry;
  readonly offeredSkills: OfferedSkills;
  readonly toolset: Toolset;
  readonly prompt: SessionSystemPrompt;
  readonly fallbacks: ModelFallbacks;
  readonly judge: AutoModeJudge;
};

type RequestDeps = Omit<BuiltInToolDeps, 'locator' | 'owners'> & { readonly mcp: McpServers };

/** Creates the parts that the requests of a conversation and of its sub-agents are made from. */
export function createRequestParts(core: Core, deps: RequestDeps): RequestParts {
  const { session, permissions, mcp } = deps;
  const locator = excludeHungMountsFromSearch(createSearchBackend(core.environment.variables), core.mounts);
  const owners = createSubAgentCallRegistry();
  const offeredSkills = createOfferedSkills(core, () => core.extensions.current().skills);
  const toolset = createToolset(core, { ...deps, locator, owners });
  const prompt = createSessionSystemPrompt(core, {
    offeredSkills: offeredSkills.list,
    permissions,
    managedDir: MANAGED_SETTINGS_DIR,
    mayRead: createInstructionReadGate(core, permissions),
    sentBefore: session.sentBefore,
    tools: toolset.listOfferedNames,
    mcpInstructions: mcp.hub.listInstructions,
  });
  const fallbacks = createModelFallbacks(core, core.model);
  const judge = createAutoModeJudge(core, {
    earlierMessages: session.opened.messages,
    getInstructions: () => getPromptPartText(prompt.system.parts(), 'memory'),
    listWrittenFiles: permissions.listWrittenFiles,
  });
  return { locator, owners, offeredSkills, toolset, prompt, fallbacks, judge };
}
