import type { ToolTraits, ToolTraitsLookup } from '../contracts/permission.ts';
import { createLazy } from '../lib/memoize.ts';
import { createToolFactsLookup } from '../permissions/create-decision-context.ts';
import { applyPatchTraits } from './apply-patch.ts';
import { askUserQuestionTraits } from './ask-user-question.ts';
import { bashTraits } from './bash/bash.ts';
import { bashOutputTraits } from './bash/bash-output.ts';
import { killShellTraits } from './bash/kill-shell.ts';
import { diagnosticsTraits } from './diagnostics.ts';
import { editTraits } from './edit/edit.ts';
import { multiEditTraits } from './edit/multi-edit.ts';
import { notebookEditTraits } from './edit/notebook-edit.ts';
import { globTraits } from './glob.ts';
import { grepTraits } from './grep.ts';
import { createToolNameMatcher, type ForeignToolCallForms } from './input/call-forms.ts';
import { lspTraits } from './lsp.ts';
import { listMcpResourcesTraits, readMcpResourceTraits } from './mcp-resources.ts';
import { enterPlanModeTraits, exitPlanModeTraits } from './plan-mode.ts';
import { readTraits } from './read/read.ts';
import { sendMessageTraits } from './send-message.ts';
import { skillTraits } from './skill.ts';
import { structuredOutputTraits } from './structured-output.ts';
import { taskTraits } from './task/task.ts';
import { todoWriteTraits } from './todo-write.ts';
import { toolSearchTraits } from './tool-search.ts';
import { webFetchTraits } from './web-fetch/web-fetch.ts';
import { webSearchTraits } from './web-search/web-search.ts';
import { writeTraits } from './write.ts';

/** The tool traits of all built-in tools. */
export const TOOL_TRAITS: readonly (ToolTraits & { readonly forms?: ForeignToolCallForms })[] = [
  applyPatchTraits,
  askUserQuestionTraits,
  bashTraits,
  bashOutputTraits,
  diagnosticsTraits,
  editTraits,
  enterPlanModeTraits,
  exitPlanModeTraits,
  globTraits,
  grepTraits,
  killShellTraits,
  listMcpResourcesTraits,
  lspTraits,
  multiEditTraits,
  notebookEditTraits,
  readTraits,
  readMcpResourceTraits,
  sendMessageTraits,
  skillTraits,
  structuredOutputTraits,
  taskTraits,
  todoWriteTraits,
  toolSearchTraits,
  webFetchTraits,
  webSearchTraits,
  writeTraits,
];

/** Returns the traits of the built-in tool with this name or alias, or with this name in another assistant. */
export const findBuiltInToolTraits: ToolTraitsLookup = (requestedName) =>
  TOOL_TRAITS.find(({ name, aliases = [] }) => name === requestedName || aliases.includes(requestedName)) ??
  listTraitMatchers().find(({ matches }) => matches(requestedName, null) === 'name')?.traits;

const listTraitMatchers = createLazy(() =>
  TOOL_TRAITS.map((traits) => ({
    traits,
    matches: createToolNameMatcher([traits.name, ...(traits.forms?.names ?? [])]),
  })),
);

/** Returns what a call of a built-in tool would touch. */
export const getToolFacts = createToolFactsLookup(TOOL_TRAITS);
