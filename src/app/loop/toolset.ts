import { CHARS_PER_TOKEN, type ToolSpec } from '../../contracts/model.ts';
import type { Tool } from '../../contracts/tool.ts';
import { replaceToolsByName } from '../../extensions/apply-agent.ts';
import { areSame, createDerived } from '../../lib/memoize.ts';
import type { McpServers } from '../../mcp/session-servers.ts';
import { reuseUnchangedToolSpecs } from '../../session/request-head.ts';
import { askUserQuestionTraits } from '../../tools/ask-user-question.ts';
import { createDeferredSpecs, createSpecSorter } from '../../tools/deferred-tool-specs.ts';
import { diagnosticsTraits } from '../../tools/diagnostics.ts';
import { createFileReadState, type FileReadState } from '../../tools/files/file-read-state.ts';
import { lspTraits } from '../../tools/lsp.ts';
import { enterPlanModeTraits, exitPlanModeTraits } from '../../tools/plan-mode.ts';
import { selectEnabledTools } from '../../tools/select-tools.ts';
import { skillTraits } from '../../tools/skill.ts';
import { createToolSearchTool } from '../../tools/tool-search.ts';
import { webSearchTraits } from '../../tools/web-search/web-search.ts';
import type { Core } from '../core.ts';
import { type BuiltInToolDeps, createBuiltInTools, createFileTools } from './built-in-tools.ts';

/**
 * The tools of a conversation, in four lists, each made from the one before it:
 * 1. all: built-in tools and those of MCP servers, without the ones that flags or rules remove entirely
 * 2. enabled: all tools without hidden ones, which only accept calls in the format of another assistant
 * 3. offered: the tools that can be used now, hidden ones included
 * 4. specs: the offered tools as they are sent, without deferred ones
 */
export type Toolset = {
  /** Record of the files the model has read. */
  readonly readState: FileReadState;
  /** Adds tools that depend on other tools. */
  add(tools: readonly Tool[]): void;
  /** Returns all built-in tools, including disabled ones. */
  listBuiltIn(): readonly Tool[];
  /** Returns the enabled tools, in a stable order. */
  listEnabled(): readonly Tool[];
  /** Returns the tools that the current model can call, including hidden ones. */
  listOffered(): readonly Tool[];
  /** Returns the names of the tools that the model is told about. */
  listOfferedNames(): readonly string[];
  /** Returns the tools of a sub-agent, with its own file tools and additional tools. */
  createForSubAgent(reads: FileReadState, additional: readonly Tool[]): readonly Tool[];
  /** Returns the specs to send. Text and order stay the same between requests; deferred tools are sent when loaded. */
  getSpecs(tools: readonly Tool[]): readonly ToolSpec[];
};

type ToolsetDeps = BuiltInToolDeps & { readonly mcp: Pick<McpServers, 'listTools'> };

/** Creates the tools of a conversation. */
export function createToolset(core: Core, deps: ToolsetDeps): Toolset {
  const { options, live, model } = core;
  const readState = createFileReadState(deps.session.opened.stored.files);
  const sentBefore = deps.session.sentBefore?.tools ?? [];
  const withCheckpoints = deps.checkpoints?.wrapTools ?? ((tools: readonly Tool[]) => tools);
  const enable = (tools: readonly Tool[]) =>
    selectEnabledTools(withCheckpoints(tools), options, deps.permissions.getRules());
  // Tools that need other tools are added: ToolSearch below, Task and Skill by the agent loop.
  let builtIn = createBuiltInTools(core, deps, readState);
  const listAll = createDerived(
    () => [builtIn, deps.mcp.listTools(), deps.permissions.getRules()],
    (builtInTools, mcpTools, rules) =>
      selectEnabledTools(withCheckpoints([...builtInTools, ...mcpTools]), options, rules),
  );
  const listEnabled = createDerived(
    () => [listAll()],
    (tools) => tools.filter(({ isHidden }) => isHidden !== true),
  );
  const listUnusable = createUnusableToolList(core, deps);
  const listOffered = createDerived(
    () => [listAll(), listUnusable()],
    (tools, unusable) => tools.filter(({ name }) => !unusable.includes(name)),
  );
  const deferral = createDeferredSpecs({
    listTools: listOffered,
    windowTokens: () => model.infoOf(live.current().model).contextWindow,
    countTokens: (text) => Math.ceil(text.length / CHARS_PER_TOKEN),
  });
  deferral.load(sentBefore.map(({ name }) => name));
  const sortSpecs = createSpecSorter(sentBefore);
  builtIn = [...builtIn, createToolSearchTool(deferral)];
  let sent: { readonly specs: readonly ToolSpec[]; readonly sorted: readonly ToolSpec[] } | undefined;
  return {
    readState,
    add(tools) {
      builtIn = [...builtIn, ...tools];
    },
    listBuiltIn: () => builtIn,
    listEnabled,
    listOffered,
    listOfferedNames: createDerived(
      () => [listOffered()],
      (tools) => tools.flatMap(({ name, isHidden }) => (isHidden === true ? [] : [name])),
    ),
    createForSubAgent: (reads, additional) =>
      replaceToolsByName([...listOffered(), ...enable(additional)], createFileTools(core, deps, reads)),
    getSpecs(tools) {
      const specs = deferral.selectSpecs(tools);
      if (sent === undefined || !areSame(specs, sent.specs))
        sent = { specs, sorted: sortSpecs(reuseUnchangedToolSpecs(specs, sentBefore)) };
      return sent.sorted;
    },
  };
}

/** A tool that some conversations cannot use, and the condition on which they can. */
type ConditionalTool = { readonly name: string; readonly isUsable: () => boolean };

/** Creates the function that returns the names of the tools that cannot be used now. */
function createUnusableToolList(core: Core, { session, permissions, languages }: ToolsetDeps): () => readonly string[] {
  const { options, live, model, extensions, settings } = core;
  // Decided once: a tool that comes or goes would invalidate the prompt cache.
  const canAsk = options.frontend !== 'print' || permissions.canAsk;
  const wasPlanSent = session.sentBefore?.tools.some(({ name }) => name === exitPlanModeTraits.name) === true;
  const canPlan = canAsk || live.current().mode === 'plan' || wasPlanSent;
  const conditionalTools: readonly ConditionalTool[] = [
    { name: askUserQuestionTraits.name, isUsable: () => canAsk },
    { name: enterPlanModeTraits.name, isUsable: () => canPlan },
    { name: exitPlanModeTraits.name, isUsable: () => canPlan },
    { name: skillTraits.name, isUsable: () => extensions.current().skills.length > 0 },
    { name: lspTraits.name, isUsable: languages.hasServers },
    { name: diagnosticsTraits.name, isUsable: languages.hasDiagnostics },
    {
      name: webSearchTraits.name,
      // Either the model searches, or a search provider of the settings does.
      isUsable: () => model.infoOf(live.current().model).webSearch || settings.current().webSearch !== undefined,
    },
  ];
  return () => conditionalTools.flatMap(({ name, isUsable }) => (isUsable() ? [] : [name]));
}
