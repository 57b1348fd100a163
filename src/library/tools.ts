/** `ouro/tools`: tools of one's own, the built-in ones, and the gates before them. */
export type { PermissionMode } from '../contracts/permission.ts';
export {
  type CallContext,
  type CallRequest,
  type GateVerdict,
  type Tool,
  ToolFailure,
  type ToolOutcome,
  type ToolProgress,
} from '../contracts/tool.ts';
export { buildTool, type JsonToolDefinition, type ToolDefinition, type ToolParts } from '../tools/build-tool.ts';
export {
  bashTool,
  builtInTools,
  editTool,
  globTool,
  grepTool,
  multiEditTool,
  readTool,
  type ToolPlace,
  writeTool,
} from './built-in-tools.ts';
export { type GateRules, gated, openGate, readOnlyGate, rulesGate, type ToolGate } from './tool-gate.ts';
