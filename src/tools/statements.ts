import type { ToolLookup, ToolStatement } from '../contracts/permission.ts';
import { askUserQuestionStatement } from './ask-user-question/ask-user-question.ts';
import { bashStatement } from './bash/bash.ts';
import { bashOutputStatement } from './bash-output/bash-output.ts';
import { editStatement } from './edit/edit.ts';
import { enterPlanModeStatement } from './enter-plan-mode/enter-plan-mode.ts';
import { exitPlanModeStatement } from './exit-plan-mode/exit-plan-mode.ts';
import { globStatement } from './glob/glob.ts';
import { grepStatement } from './grep/grep.ts';
import { killShellStatement } from './kill-shell/kill-shell.ts';
import { listMcpResourcesStatement } from './list-mcp-resources/list-mcp-resources.ts';
import { lspStatement } from './lsp/lsp.ts';
import { multiEditStatement } from './multi-edit/multi-edit.ts';
import { notebookEditStatement } from './notebook-edit/notebook-edit.ts';
import { readStatement } from './read/read.ts';
import { readMcpResourceStatement } from './read-mcp-resource/read-mcp-resource.ts';
import { sendMessageStatement } from './send-message/send-message.ts';
import { skillStatement } from './skill/skill.ts';
import { structuredOutputStatement } from './structured-output/structured-output.ts';
import { taskStatement } from './task/task.ts';
import { todoWriteStatement } from './todo-write/todo-write.ts';
import { toolSearchStatement } from './tool-search/tool-search.ts';
import { webFetchStatement } from './web-fetch/web-fetch.ts';
import { webSearchStatement } from './web-search/web-search.ts';
import { writeStatement } from './write/write.ts';

/** What every tool of ours says of itself. */
export const TOOL_STATEMENTS: readonly ToolStatement[] = [
  askUserQuestionStatement,
  bashStatement,
  bashOutputStatement,
  editStatement,
  enterPlanModeStatement,
  exitPlanModeStatement,
  globStatement,
  grepStatement,
  killShellStatement,
  listMcpResourcesStatement,
  lspStatement,
  multiEditStatement,
  notebookEditStatement,
  readStatement,
  readMcpResourceStatement,
  sendMessageStatement,
  skillStatement,
  structuredOutputStatement,
  taskStatement,
  todoWriteStatement,
  toolSearchStatement,
  webFetchStatement,
  webSearchStatement,
  writeStatement,
];

export const toolNamed: ToolLookup = (wanted) =>
  TOOL_STATEMENTS.find(({ name, aliases = [] }) => name === wanted || aliases.includes(wanted));
