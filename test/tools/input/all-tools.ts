import type { Tool } from '../../../src/contracts/tool.ts';
import { createFileLocks } from '../../../src/lib/files/file-locks.ts';
import { createApplyPatchTool } from '../../../src/tools/apply-patch.ts';
import { askUserQuestionTool } from '../../../src/tools/ask-user-question.ts';
import { createBashTool } from '../../../src/tools/bash/bash.ts';
import { createBashOutputTool } from '../../../src/tools/bash/bash-output.ts';
import { createKillShellTool } from '../../../src/tools/bash/kill-shell.ts';
import { createShellRegistry } from '../../../src/tools/bash/shell-registry.ts';
import { createDiagnosticsTool } from '../../../src/tools/diagnostics.ts';
import { createEditTool } from '../../../src/tools/edit/edit.ts';
import { createMultiEditTool } from '../../../src/tools/edit/multi-edit.ts';
import { createNotebookEditTool } from '../../../src/tools/edit/notebook-edit.ts';
import { createFileReadState } from '../../../src/tools/files/file-read-state.ts';
import { createGlobTool } from '../../../src/tools/glob.ts';
import { createGrepTool } from '../../../src/tools/grep.ts';
import { createLspTool } from '../../../src/tools/lsp.ts';
import { createListMcpResourcesTool, createReadMcpResourceTool } from '../../../src/tools/mcp-resources.ts';
import { createEnterPlanModeTool, createExitPlanModeTool } from '../../../src/tools/plan-mode.ts';
import { createReadTool } from '../../../src/tools/read/read.ts';
import { createWalkBackend } from '../../../src/tools/search/walk-backend.ts';
import { createSendMessageTool } from '../../../src/tools/send-message.ts';
import { createSkillTool } from '../../../src/tools/skill.ts';
import { createTaskTool } from '../../../src/tools/task/task.ts';
import { createTodoWriteTool } from '../../../src/tools/todo-write.ts';
import { createToolSearchTool } from '../../../src/tools/tool-search.ts';
import { createWebFetchTool } from '../../../src/tools/web-fetch/web-fetch.ts';
import { createWebSearchTool } from '../../../src/tools/web-search/web-search.ts';
import { createWriteTool } from '../../../src/tools/write.ts';

/** All built-in tools, to prepare calls with; none of them does anything. */
export function createAllTools(): readonly Tool[] {
  const files = { readState: createFileReadState(), home: '/home/ann', locks: createFileLocks('/home/ann') };
  const search = { locator: createWalkBackend(), home: '/home/ann', excluded: () => [] };
  const shells = createShellRegistry(Date.now, () => undefined);
  const unused = async (): Promise<never> => {
    throw new Error('The call was made.');
  };
  return [
    createApplyPatchTool(files),
    askUserQuestionTool,
    createBashTool({
      shells,
      variables: () => ({}),
      ledger: { started: () => undefined, ended: () => undefined },
      workspaceRoots: () => [],
      setCwd: () => undefined,
      outputFolder: '/nowhere',
      limits: () => ({ timeoutMs: 120_000, maxTimeoutMs: 600_000 }),
      now: Date.now,
    }),
    createBashOutputTool(shells),
    createEditTool(files),
    createEnterPlanModeTool(() => undefined),
    createExitPlanModeTool({ isPlanning: () => true, setMode: () => undefined, savePlan: () => undefined }),
    createGlobTool(search),
    createGrepTool(search),
    createKillShellTool(shells, () => false),
    createListMcpResourcesTool(unused),
    createDiagnosticsTool({ listDiagnostics: unused, home: '/home/ann' }),
    createLspTool({ lookUp: unused, findRenameChanges: unused, files }),
    createMultiEditTool(files),
    createNotebookEditTool(files),
    createReadMcpResourceTool(unused),
    createReadTool(files),
    createSendMessageTool({ send: unused }),
    createSkillTool({ loadSkill: unused, listNames: () => [] }),
    createTaskTool({ listTypes: () => [], runAgent: unused, runInBackground: unused }),
    createTodoWriteTool(() => undefined),
    createToolSearchTool({ listUnloaded: () => [], load: () => undefined }),
    createWebFetchTool({ answerFromPage: unused, userAgent: 'test', now: Date.now }),
    createWebSearchTool(unused),
    createWriteTool(files),
  ];
}
