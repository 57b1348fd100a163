import { join } from 'node:path';
import type { Tool } from '../../contracts/tool.ts';
import { createFileLocks } from '../../lib/files/file-locks.ts';
import type { SessionLanguageServers } from '../../lsp/session-language-servers.ts';
import { getUnfinishedWritesDir } from '../../session/paths.ts';
import type { Session } from '../../session/session.ts';
import type { SessionCheckpoints } from '../../session/session-checkpoints.ts';
import { createApplyPatchTool } from '../../tools/apply-patch.ts';
import { askUserQuestionTool } from '../../tools/ask-user-question.ts';
import { createBashTool } from '../../tools/bash/bash.ts';
import type { BashDeps } from '../../tools/bash/bash-deps.ts';
import { createBashOutputTool } from '../../tools/bash/bash-output.ts';
import type { ShellRegistry } from '../../tools/bash/shell-registry.ts';
import { createDiagnosticsTool } from '../../tools/diagnostics.ts';
import { createEditTool } from '../../tools/edit/edit.ts';
import { createMultiEditTool } from '../../tools/edit/multi-edit.ts';
import { createNotebookEditTool } from '../../tools/edit/notebook-edit.ts';
import { createOpenFileNotices } from '../../tools/files/file-in-use-notices.ts';
import { type FileReadState, recordShownFiles } from '../../tools/files/file-read-state.ts';
import { createGlobTool } from '../../tools/glob.ts';
import { createGrepTool } from '../../tools/grep.ts';
import { createLspTool } from '../../tools/lsp.ts';
import { createEnterPlanModeTool, createExitPlanModeTool } from '../../tools/plan-mode.ts';
import { createReadTool, getReadTokenLimit } from '../../tools/read/read.ts';
import type { FileSearchBackend } from '../../tools/search/search-backend.ts';
import { createSideRequests } from '../../tools/side-requests.ts';
import { createStructuredOutputTool } from '../../tools/structured-output.ts';
import type { SubAgentCallRegistry } from '../../tools/task/sub-agent-call-registry.ts';
import { createTodoWriteTool } from '../../tools/todo-write.ts';
import { createWebFetchTool } from '../../tools/web-fetch/web-fetch.ts';
import { createWebSearchTool } from '../../tools/web-search/web-search.ts';
import { createWriteTool } from '../../tools/write.ts';
import type { Core } from '../core.ts';
import type { SessionPermissions } from '../permissions/session-permissions.ts';
import type { SessionHooks } from '../session-hooks.ts';

/** The parts of a conversation that its built-in tools use. */
export type BuiltInToolDeps = {
  readonly session: Session;
  readonly permissions: SessionPermissions;
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly shells: ShellRegistry;
  readonly locator: FileSearchBackend;
  /** The sub-agents that running calls belong to. */
  readonly owners: SubAgentCallRegistry;
  readonly languages: SessionLanguageServers;
  readonly hooks: SessionHooks;
};

/** Creates the built-in tools that do not depend on other tools. */
export function createBuiltInTools(core: Core, deps: BuiltInToolDeps, readState: FileReadState): readonly Tool[] {
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
  const sideRequests = createSideRequests(core);
  const setMode = (mode: 'plan' | 'default' | 'acceptEdits') => live.update({ mode });
  return [
    createBash(core, deps, onShown),
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
      answerFromPage: sideRequests.answerAboutPage,
      userAgent: `ouro/${environment.version}`,
      now: core.now,
    }),
    createWebSearchTool(sideRequests.searchWeb),
  ];
}

const BASH_TIMEOUT_MS = 120_000;
const BASH_MAX_TIMEOUT_MS = 600_000;

function createBash(core: Core, deps: BuiltInToolDeps, onShown: NonNullable<BashDeps['onShown']>): Tool {
  const { settings, live, now } = core;
  const { permissions, session, shells, owners, hooks } = deps;
  return createBashTool({
    shells,
    variables: () => ({ ...settings.variables(), ...hooks.getVariables() }),
    extraEnv: (callId) => permissions.takeShellVariables(callId, hooks.getVariables()),
    sandbox: permissions.sandbox.wrap,
    enforceDenials: permissions.denySandbox.wrap,
    onShown,
    isSandboxed: () => permissions.sandbox.getApproval() !== undefined,
    prepareReadOnly: permissions.readOnlySandbox.prepare,
    prepareTrial: permissions.prepareTrial,
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
    removeKeys: core.knownKeys.remove,
    limits() {
      const { bashTimeoutMs = BASH_TIMEOUT_MS, bashMaxTimeoutMs = BASH_MAX_TIMEOUT_MS } = settings.limits();
      return { timeoutMs: bashTimeoutMs, maxTimeoutMs: bashMaxTimeoutMs };
    },
    now,
  });
}

/** Creates the file tools, which share a record of what was read. Each conversation and each sub-agent has its own. */
export function createFileTools(core: Core, deps: BuiltInToolDeps, readState: FileReadState): readonly Tool[] {
  const { permissions, checkpoints, locator, languages } = deps;
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
  const fileDeps = {
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
    createApplyPatchTool(fileDeps),
    createEditTool(fileDeps),
    createLspTool({ lookUp: languages.runQuery, findRenameChanges: languages.findRenameChanges, files: fileDeps }),
    createMultiEditTool(fileDeps),
    createNotebookEditTool(fileDeps),
    createReadTool(fileDeps),
    createWriteTool(fileDeps),
  ];
}
