import { join } from 'node:path';
import { CHARS_PER_TOKEN, type ToolSpec } from '../../contracts/model.ts';
import type { Tool } from '../../contracts/tool.ts';
import { replaceToolsByName } from '../../extensions/apply-agent.ts';
import { createFileLocks } from '../../lib/files/file-locks.ts';
import { areSame, createDerived } from '../../lib/memoize.ts';
import type { SessionLanguageServers } from '../../lsp/session-language-servers.ts';
import type { McpServers } from '../../mcp/session-servers.ts';
import { getUnfinishedWritesDir } from '../../session/paths.ts';
import { reuseUnchangedToolSpecs } from '../../session/request-head.ts';
import type { Session } from '../../session/session.ts';
import type { SessionCheckpoints } from '../../session/session-checkpoints.ts';
import { createApplyPatchTool } from '../../tools/apply-patch.ts';
import { askUserQuestionTool, askUserQuestionTraits } from '../../tools/ask-user-question.ts';
import { type BashDeps, createBashTool } from '../../tools/bash/bash.ts';
import { createBashOutputTool } from '../../tools/bash/bash-output.ts';
import type { ShellRegistry } from '../../tools/bash/shell-registry.ts';
import { createDeferredSpecs, createSpecSorter } from '../../tools/deferred-tool-specs.ts';
import { createDiagnosticsTool, diagnosticsTraits } from '../../tools/diagnostics.ts';
import { createEditTool } from '../../tools/edit/edit.ts';
import { createMultiEditTool } from '../../tools/edit/multi-edit.ts';
import { createNotebookEditTool } from '../../tools/edit/notebook-edit.ts';
import { createOpenFileNotices } from '../../tools/files/file-in-use-notices.ts';
import { createFileReadState, type FileReadState, recordShownFiles } from '../../tools/files/file-read-state.ts';
import { createGlobTool } from '../../tools/glob.ts';
import { createGrepTool } from '../../tools/grep.ts';
import { createLspTool, lspTraits } from '../../tools/lsp.ts';
import {
  createEnterPlanModeTool,
  createExitPlanModeTool,
  enterPlanModeTraits,
  exitPlanModeTraits,
} from '../../tools/plan-mode.ts';
import { createReadTool, getReadTokenLimit } from '../../tools/read/read.ts';
import type { FileSearchBackend } from '../../tools/search/search-backend.ts';
import { selectEnabledTools } from '../../tools/select-tools.ts';
import { createSideRequests } from '../../tools/side-requests.ts';
import { skillTraits } from '../../tools/skill.ts';
import { createStructuredOutputTool } from '../../tools/structured-output.ts';
import type { SubAgentCallRegistry } from '../../tools/task/sub-agent-call-registry.ts';
import { createTodoWriteTool } from '../../tools/todo-write.ts';
import { createToolSearchTool } from '../../tools/tool-search.ts';
import { createWebFetchTool } from '../../tools/web-fetch/web-fetch.ts';
import { createWebSearchTool, webSearchTraits } from '../../tools/web-search/web-search.ts';
import { createWriteTool } from '../../tools/write.ts';
import type { Core } from '../core.ts';
import type { SessionPermissions } from '../permissions/session-permissions.ts';
import type { SessionHooks } from '../session-hooks.ts';

/** The tools of a conversation. */
export type Toolset = ReturnType<typeof createToolset>;

type ToolsetDeps = BuiltInToolDeps & {
  readonly session: Pick<Session, 'opened' | 'transcript' | 'ledger' | 'sentBefore'>;
  readonly permissions: SessionPermissions;
  readonly mcp: Pick<McpServers, 'listTools'>;
  readonly languages: SessionLanguageServers;
};

/** Creates the tools of a conversation. */
export function createToolset(core: Core, deps: ToolsetDeps) {
  const { options, live, model } = core;
  /** Record of the files the model has read. */
  const readState = createFileReadState(deps.session.opened.stored.files);
  let builtIn = createBuiltInTools(core, deps, readState);
  const getModelInfo = () => model.infoOf(live.current().model);
  const watch = deps.checkpoints?.wrapTools ?? ((tools: readonly Tool[]) => tools);
  const enable = (tools: readonly Tool[]) => selectEnabledTools(watch(tools), options, deps.permissions.getRules());
  const listAll = createDerived(
    () => [builtIn, deps.mcp.listTools(), deps.permissions.getRules()],
    (own, served, rules) => selectEnabledTools(watch([...own, ...served]), options, rules),
  );
  /** Returns all enabled tools that no rule denies entirely, in a stable order. */
  const listEnabled = createDerived(
    () => [listAll()],
    (tools) => tools.filter(({ isHidden }) => isHidden !== true),
  );
  const sentBefore = deps.session.sentBefore?.tools ?? [];
  // Decided once: a tool that comes or goes would invalidate the prompt cache.
  const canAsk = options.frontend !== 'print' || deps.permissions.canAsk;
  const canPlan =
    canAsk || live.current().mode === 'plan' || sentBefore.some(({ name }) => name === exitPlanModeTraits.name);
  /** Returns the names of tools that cannot be used now: WebSearch needs a model or a provider that searches. */
  const listUnusable = () => [
    ...(canAsk ? [] : [askUserQuestionTraits.name]),
    ...(canPlan ? [] : [enterPlanModeTraits.name, exitPlanModeTraits.name]),
    ...(core.extensions.current().skills.length > 0 ? [] : [skillTraits.name]),
    ...(deps.languages.hasServers() ? [] : [lspTraits.name]),
    ...(deps.languages.hasDiagnostics() ? [] : [diagnosticsTraits.name]),
    ...(getModelInfo().webSearch || core.settings.current().webSearch !== undefined ? [] : [webSearchTraits.name]),
  ];
  /** Returns the tools that the current model can call, including hidden ones. */
  const listOffered = createDerived(
    () => [listAll(), listUnusable()],
    (tools, unusable) => tools.filter(({ name }) => !unusable.includes(name)),
  );
  const deferral = createDeferredSpecs({
    listTools: listOffered,
    windowTokens: () => getModelInfo().contextWindow,
    countTokens: (text) => Math.ceil(text.length / CHARS_PER_TOKEN),
  });
  deferral.load(sentBefore.map(({ name }) => name));
  const sortSpecs = createSpecSorter(sentBefore);
  builtIn = [...builtIn, createToolSearchTool(deferral)];
  let sent: { readonly specs: readonly ToolSpec[]; readonly sorted: readonly ToolSpec[] } | undefined;
  return {
    readState,
    /** Adds tools that depend on other tools. */
    add(tools: readonly Tool[]): void {
      builtIn = [...builtIn, ...tools];
    },
    /** Returns all built-in tools, including disabled ones. */
    listBuiltIn: (): readonly Tool[] => builtIn,
    listEnabled,
    listOffered,
    /** Returns the names of the tools that the model is told about. */
    listOfferedNames: createDerived(
      () => [listOffered()],
      (tools) => tools.flatMap(({ name, isHidden }) => (isHidden === true ? [] : [name])),
    ),
    /** Returns the tools of a sub-agent, with its own file tools and additional tools. */
    createForSubAgent: (reads: FileReadState, more: readonly Tool[]): readonly Tool[] =>
      replaceToolsByName([...listOffered(), ...enable(more)], createFileTools(core, deps, reads)),
    /** Returns the specs to send. Text and order stay the same between requests; deferred tools are sent when loaded. */
    getSpecs(tools: readonly Tool[]): readonly ToolSpec[] {
      const specs = deferral.selectSpecs(tools);
      if (sent === undefined || !areSame(specs, sent.specs))
        sent = { specs, sorted: sortSpecs(reuseUnchangedToolSpecs(specs, sentBefore)) };
      return sent.sorted;
    },
  };
}

const BASH_TIMEOUT_MS = 120_000;
const BASH_MAX_TIMEOUT_MS = 600_000;

/** The parts that the built-in tools depend on. */
type BuiltInToolDeps = {
  readonly session: Pick<Session, 'transcript' | 'ledger'>;
  readonly permissions: Pick<
    SessionPermissions,
    | 'confirmTarget'
    | 'takeShellVariables'
    | 'sandbox'
    | 'readOnlySandbox'
    | 'denySandbox'
    | 'listSearchExclusions'
    | 'getRoots'
  >;
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly shells: ShellRegistry;
  readonly locator: FileSearchBackend;
  readonly owners: SubAgentCallRegistry;
  readonly languages: Pick<SessionLanguageServers, 'runQuery' | 'listDiagnostics' | 'findRenameChanges'>;
  readonly hooks: Pick<SessionHooks, 'getVariables'>;
};

/** Creates the file tools, which share what was read of files. Each conversation and each sub-agent has its own. */
function createFileTools(
  core: Core,
  {
    permissions,
    checkpoints,
    locator,
    languages,
  }: Pick<BuiltInToolDeps, 'permissions' | 'checkpoints' | 'locator' | 'languages'>,
  readState: FileReadState,
): readonly Tool[] {
  const { environment, options, live, model } = core;
  const { home, ouroHome } = environment;
  const reportOpenFile = createOpenFileNotices(
    (text) => void core.bus.emit({ type: 'notice', level: 'info', topic: 'files', text }),
  );
  const beforeRestore = async (realPath: string, bytes: Uint8Array) => checkpoints?.beforeChange(realPath, bytes);
  const beforeChange = async (realPath: string, bytes: Uint8Array) => {
    await permissions.confirmTarget(realPath);
    await beforeRestore(realPath, bytes);
    reportOpenFile(realPath);
  };
  const deps = {
    readState,
    home,
    editor: options.host?.files,
    beforeChange,
    beforeRestore,
    unfinished: getUnfinishedWritesDir(ouroHome),
    // Its own, because a patch holds its files for the calls it consists of.
    locks: createFileLocks(ouroHome),
    maxTokens: () => getReadTokenLimit(model.infoOf(live.current().model).contextWindow),
    search: { locator, home, excluded: permissions.listSearchExclusions },
  };
  return [
    createApplyPatchTool(deps),
    createEditTool(deps),
    createLspTool({ lookUp: languages.runQuery, findRenameChanges: languages.findRenameChanges, files: deps }),
    createMultiEditTool(deps),
    createNotebookEditTool(deps),
    createReadTool(deps),
    createWriteTool(deps),
  ];
}

/** Creates the built-in tools that do not depend on other tools. */
function createBuiltInTools(core: Core, deps: BuiltInToolDeps, readState: FileReadState): readonly Tool[] {
  const { environment, live, options } = core;
  // A sub-agent has its own record of what it has read.
  const onShown = async (files: readonly string[], callId: string) =>
    deps.owners.getOwner(callId) === undefined ? recordShownFiles(readState, files) : undefined;
  const search = {
    locator: deps.locator,
    home: environment.home,
    excluded: deps.permissions.listSearchExclusions,
    listHungMounts: core.mounts.listHung,
    onShown,
  };
  const sideAsks = createSideRequests(core);
  const setMode = (mode: 'plan' | 'default' | 'acceptEdits') => live.update({ mode });
  return [
    createBash(core, { ...deps, onShown }),
    askUserQuestionTool,
    createBashOutputTool(deps.shells),
    ...createFileTools(core, deps, readState),
    createEnterPlanModeTool(setMode),
    createExitPlanModeTool({
      isPlanning: () => live.current().mode === 'plan',
      setMode,
      savePlan: (plan) => live.update({ plan }),
    }),
    createGlobTool(search),
    createGrepTool(search),
    createDiagnosticsTool({ listDiagnostics: deps.languages.listDiagnostics, home: environment.home }),
    ...(options.jsonSchema === undefined ? [] : [createStructuredOutputTool(options.jsonSchema)]),
    createTodoWriteTool((todos) => live.update({ todos })),
    createWebFetchTool({
      answerFromPage: sideAsks.answerAboutPage,
      userAgent: `ouro/${environment.version}`,
      now: core.now,
    }),
    createWebSearchTool(sideAsks.searchWeb),
  ];
}

function createBash(
  { settings, live, now }: Core,
  { permissions, session, shells, owners, hooks, onShown }: BuiltInToolDeps & Pick<BashDeps, 'onShown'>,
): Tool {
  return createBashTool({
    shells,
    variables: () => ({ ...settings.variables(), ...hooks.getVariables() }),
    extraEnv: (callId) => permissions.takeShellVariables(callId, hooks.getVariables()),
    sandbox: permissions.sandbox.wrap,
    enforceDenials: permissions.denySandbox.wrap,
    ...(onShown === undefined ? {} : { onShown }),
    isSandboxed: () => permissions.sandbox.getApproval() !== undefined,
    prepareReadOnly: permissions.readOnlySandbox.prepare,
    onSandboxExit: permissions.sandbox.cleanUp,
    listSandboxDenials: permissions.sandbox.describeBlocked,
    ledger: session.ledger,
    workspaceRoots(callId) {
      const worktree = owners.getLocation(callId)?.root;
      return worktree === undefined ? permissions.getRoots() : [worktree];
    },
    setCwd: (cwd, callId) => {
      if (owners.updateCwd(callId, cwd) === 'conversation') live.update({ cwd });
    },
    outputFolder: join(session.transcript.folder, 'outputs'),
    limits() {
      const { bashTimeoutMs = BASH_TIMEOUT_MS, bashMaxTimeoutMs = BASH_MAX_TIMEOUT_MS } = settings.limits();
      return { timeoutMs: bashTimeoutMs, maxTimeoutMs: bashMaxTimeoutMs };
    },
    now,
  });
}
