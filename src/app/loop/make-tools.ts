import { join } from 'node:path';
import type { Environment, Limits } from '../../contracts/environment.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { LiveState } from '../../contracts/live.ts';
import type { Tool } from '../../contracts/tool.ts';
import { onlyLooks } from '../../permissions/bash/certain/only-looks.ts';
import { askUserQuestionTool } from '../../tools/ask-user-question/ask-user-question.ts';
import { type BashParts, createBashTool } from '../../tools/bash/bash.ts';
import { createBashOutputTool } from '../../tools/bash-output/bash-output.ts';
import { createEditTool } from '../../tools/edit/edit.ts';
import { createEnterPlanModeTool } from '../../tools/enter-plan-mode/enter-plan-mode.ts';
import { createExitPlanModeTool } from '../../tools/exit-plan-mode/exit-plan-mode.ts';
import { createGlobTool } from '../../tools/glob/glob.ts';
import { createGrepTool } from '../../tools/grep/grep.ts';
import { createKillShellTool } from '../../tools/kill-shell/kill-shell.ts';
import { createMultiEditTool } from '../../tools/multi-edit/multi-edit.ts';
import { createNotebookEditTool } from '../../tools/notebook-edit/notebook-edit.ts';
import { createReadTool } from '../../tools/read/read.ts';
import { createReadState, type ReadState } from '../../tools/read-state.ts';
import { createLocator } from '../../tools/search/choose-locator.ts';
import type { Locator } from '../../tools/search/locator.ts';
import { createShells, type Shells } from '../../tools/shells.ts';
import { createSkillTool, type SkillParts } from '../../tools/skill/skill.ts';
import { createStructuredOutputTool } from '../../tools/structured-output/structured-output.ts';
import { createTaskTool, type TaskParts } from '../../tools/task/task.ts';
import { createTodoWriteTool } from '../../tools/todo-write/todo-write.ts';
import { createToolSearchTool, type DeferredTools } from '../../tools/tool-search/tool-search.ts';
import { createWebFetchTool } from '../../tools/web-fetch/web-fetch.ts';
import { createWebSearchTool } from '../../tools/web-search/web-search.ts';
import { createWriteTool } from '../../tools/write/write.ts';
import type { Permissions } from '../permissions/permissions.ts';
import type { Subagents } from './run-subagent.ts';
import type { SideAsks } from './side-asks.ts';

const BASH_TIMEOUT_MS = 120_000;
const BASH_MAX_TIMEOUT_MS = 600_000;

export type ToolBox = {
  readonly tools: readonly Tool[];
  readonly readState: ReadState;
  /** The tools that know what was read of files, for a conversation that has read other files. */
  readonly fileTools: (reads: ReadState) => readonly Tool[];
  readonly shells: Shells;
  readonly locator: Locator;
};

export type ToolParts = {
  readonly environment: Environment;
  readonly limits: Limits;
  readonly live: LiveState;
  readonly workspaceRoots: () => readonly string[];
  readonly sessionFolder: string;
  readonly ledger: BashParts['ledger'];
  readonly variables: () => Readonly<Record<string, string>>;
  /** Folders and names that searches must not look into. */
  readonly excluded: () => readonly string[];
  readonly permissions: Pick<Permissions, 'confirmTarget' | 'shellVariables' | 'sandbox'>;
  readonly beforeChange?: (realPath: string) => Promise<void>;
  readonly skills: SkillParts;
  readonly task: TaskParts & Pick<Subagents, 'moved' | 'stop'>;
  readonly asks: Pick<SideAsks, 'aboutPage' | 'searchWeb'>;
  readonly deferred: DeferredTools;
  readonly keepPlan: (plan: string) => void;
  readonly answerSchema: JsonObject | undefined;
  /** Hears of shells that go to the background, and of their end. */
  readonly tell: (event: AgentEvent) => void;
};

/** Every built-in tool, each with the parts it wants. */
export function makeTools(parts: ToolParts): ToolBox {
  const { environment, live } = parts;
  const { home } = environment;
  const readState = createReadState();
  const shells = createShells(Date.now, parts.tell);
  const beforeChange = async (realPath: string) => {
    await parts.permissions.confirmTarget(realPath);
    await parts.beforeChange?.(realPath);
  };
  const fileTools: ToolBox['fileTools'] = (reads) => {
    const change = { readState: reads, home, beforeChange };
    return [
      createEditTool(change),
      createMultiEditTool(change),
      createNotebookEditTool(change),
      createReadTool(change),
      createWriteTool(change),
    ];
  };
  const locator = createLocator(environment.variables);
  const search = { locator, home, excluded: parts.excluded };
  const bash = createBashTool({
    shells,
    variables: parts.variables,
    extraEnv: parts.permissions.shellVariables,
    sandbox: parts.permissions.sandbox.wrap,
    leftSandbox: parts.permissions.sandbox.sweep,
    ledger: parts.ledger,
    workspaceRoots: parts.workspaceRoots,
    setCwd: (cwd, callId) => {
      if (parts.task.moved(callId, cwd) === 'conversation') live.change({ cwd });
    },
    outputFolder: join(parts.sessionFolder, 'outputs'),
    timeoutMs: parts.limits.bashTimeoutMs ?? BASH_TIMEOUT_MS,
    maxTimeoutMs: parts.limits.bashMaxTimeoutMs ?? BASH_MAX_TIMEOUT_MS,
    onlyLooks,
    now: Date.now,
  });
  return {
    readState,
    fileTools,
    shells,
    locator,
    tools: [
      bash,
      askUserQuestionTool,
      createBashOutputTool(shells),
      ...fileTools(readState),
      createEnterPlanModeTool((mode) => live.change({ mode })),
      createExitPlanModeTool({
        isPlanning: () => live.now().mode === 'plan',
        setMode: (mode) => live.change({ mode }),
        keepPlan: parts.keepPlan,
      }),
      createGlobTool(search),
      createGrepTool(search),
      createKillShellTool(shells, parts.task.stop),
      ...(parts.skills.names().length > 0 ? [createSkillTool(parts.skills)] : []),
      ...(parts.answerSchema === undefined ? [] : [createStructuredOutputTool(parts.answerSchema)]),
      createTaskTool(parts.task),
      createTodoWriteTool((todos) => live.change({ todos })),
      createToolSearchTool(parts.deferred),
      createWebFetchTool({ ask: parts.asks.aboutPage, userAgent: `ouro/${environment.version}`, now: Date.now }),
      createWebSearchTool(parts.asks.searchWeb),
    ],
  };
}
