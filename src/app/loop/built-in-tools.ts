import { join } from 'node:path';
import type { Tool } from '../../contracts/tool.ts';
import { programsHolding } from '../../lib/processes/holders.ts';
import { onlyLooks } from '../../permissions/bash/certain/only-looks.ts';
import { unfinishedIn } from '../../session/paths.ts';
import { askUserQuestionTool } from '../../tools/ask-user-question/ask-user-question.ts';
import { createBashTool } from '../../tools/bash/bash.ts';
import type { Shells } from '../../tools/bash/shells.ts';
import { createBashOutputTool } from '../../tools/bash-output/bash-output.ts';
import { createEditTool } from '../../tools/edit/edit.ts';
import { createEnterPlanModeTool } from '../../tools/enter-plan-mode/enter-plan-mode.ts';
import { createExitPlanModeTool } from '../../tools/exit-plan-mode/exit-plan-mode.ts';
import { createGlobTool } from '../../tools/glob/glob.ts';
import { createGrepTool } from '../../tools/grep/grep.ts';
import { createLspTool } from '../../tools/lsp/lsp.ts';
import { createMultiEditTool } from '../../tools/multi-edit/multi-edit.ts';
import { createNotebookEditTool } from '../../tools/notebook-edit/notebook-edit.ts';
import { createReadTool } from '../../tools/read/read.ts';
import type { ReadState } from '../../tools/read-state.ts';
import type { Locator } from '../../tools/search/locator.ts';
import { createStructuredOutputTool } from '../../tools/structured-output/structured-output.ts';
import type { CallOwners } from '../../tools/task/call-owners.ts';
import { createTodoWriteTool } from '../../tools/todo-write/todo-write.ts';
import { createWebFetchTool } from '../../tools/web-fetch/web-fetch.ts';
import { createWebSearchTool } from '../../tools/web-search/web-search.ts';
import { createWriteTool } from '../../tools/write/write.ts';
import type { Core } from '../core.ts';
import type { Permissions } from '../permissions/permissions.ts';
import type { SessionCheckpoints } from '../session/checkpoints.ts';
import type { SessionLanguages } from '../session/languages.ts';
import type { Session } from '../session/session.ts';
import type { SessionHooks } from './hooks/session-hooks.ts';
import { createSideAsks } from './side-asks.ts';

const BASH_TIMEOUT_MS = 120_000;
const BASH_MAX_TIMEOUT_MS = 600_000;

export type ToolNeeds = {
  readonly session: Pick<Session, 'transcript' | 'ledger'>;
  readonly permissions: Pick<Permissions, 'confirmTarget' | 'shellVariables' | 'sandbox' | 'excluded' | 'roots'>;
  readonly checkpoints: SessionCheckpoints | undefined;
  readonly shells: Shells;
  readonly locator: Locator;
  readonly owners: CallOwners;
  readonly languages: Pick<SessionLanguages, 'lookUp'>;
  readonly hooks: Pick<SessionHooks, 'variables'>;
};

/** The tools that know what was read of files: each conversation, a sub-agent's too, has its own. */
export function fileTools(
  { environment: { home, ouroHome }, bus, options }: Core,
  { permissions, checkpoints }: Pick<ToolNeeds, 'permissions' | 'checkpoints'>,
  readState: ReadState,
): readonly Tool[] {
  const beforeChange = async (realPath: string, bytes: Uint8Array) => {
    await permissions.confirmTarget(realPath);
    await checkpoints?.beforeChange(realPath, bytes);
    const holders = programsHolding(realPath).join(', ');
    if (holders !== '') {
      const text = `${realPath} is open in ${holders}, which may go on with the old content until it opens the file again.`;
      void bus.tell({ type: 'notice', level: 'info', topic: 'files', text });
    }
  };
  const change = { readState, home, editor: options.host?.files, beforeChange, unfinished: unfinishedIn(ouroHome) };
  return [
    createEditTool(change),
    createMultiEditTool(change),
    createNotebookEditTool(change),
    createReadTool(change),
    createWriteTool(change),
  ];
}

/** Every built-in tool that needs no other tool. */
export function builtInTools(core: Core, needs: ToolNeeds, readState: ReadState): readonly Tool[] {
  const { environment, live, options } = core;
  const search = { locator: needs.locator, home: environment.home, excluded: needs.permissions.excluded };
  const sideAsks = createSideAsks(core);
  const setMode = (mode: 'plan' | 'default' | 'acceptEdits') => live.change({ mode });
  return [
    bashTool(core, needs),
    askUserQuestionTool,
    createBashOutputTool(needs.shells),
    ...fileTools(core, needs, readState),
    createEnterPlanModeTool(setMode),
    createExitPlanModeTool({
      isPlanning: () => live.now().mode === 'plan',
      setMode,
      keepPlan: (plan) => live.change({ plan }),
    }),
    createGlobTool(search),
    createGrepTool(search),
    createLspTool({ lookUp: needs.languages.lookUp, home: environment.home }),
    ...(options.jsonSchema === undefined ? [] : [createStructuredOutputTool(options.jsonSchema)]),
    createTodoWriteTool((todos) => live.change({ todos })),
    createWebFetchTool({ ask: sideAsks.aboutPage, userAgent: `ouro/${environment.version}`, now: core.now }),
    createWebSearchTool(sideAsks.searchWeb),
  ];
}

function bashTool({ settings, live, now }: Core, { permissions, session, shells, owners, hooks }: ToolNeeds): Tool {
  return createBashTool({
    shells,
    variables: () => ({ ...settings.variables(), ...hooks.variables() }),
    extraEnv: permissions.shellVariables,
    sandbox: permissions.sandbox.wrap,
    leftSandbox: permissions.sandbox.sweep,
    keptFrom: permissions.sandbox.keptFrom,
    ledger: session.ledger,
    workspaceRoots(callId) {
      const own = owners.standOf(callId)?.root;
      return own === undefined ? permissions.roots() : [own];
    },
    setCwd: (cwd, callId) => {
      if (owners.moved(callId, cwd) === 'conversation') live.change({ cwd });
    },
    outputFolder: join(session.transcript.folder, 'outputs'),
    limits() {
      const { bashTimeoutMs = BASH_TIMEOUT_MS, bashMaxTimeoutMs = BASH_MAX_TIMEOUT_MS } = settings.limits();
      return { timeoutMs: bashTimeoutMs, maxTimeoutMs: bashMaxTimeoutMs };
    },
    onlyLooks,
    now,
  });
}
