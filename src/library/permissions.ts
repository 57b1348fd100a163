/** `ouro/permissions`: what may happen unasked, decided by rules; nothing runs. */
export type {
  Decision,
  PermissionAnswer,
  PermissionMode,
  PermissionRequest,
  Policy,
  Rule,
  RuleBehavior,
  RuleSuggestion,
  ToolFacts,
  ToolStatement,
  TraceStep,
} from '../contracts/permission.ts';
export { decide } from '../permissions/decide.ts';
export { diskFs, type PermissionFs } from '../permissions/paths/fs.ts';
export { parseRule } from '../permissions/rules/rules.ts';
export { type CallQuestion, decisionOf, factsOfTools, policyOf, type Rules } from './decisions.ts';
export { type GateRules, gated, openGate, readOnlyGate, rulesGate, type ToolGate } from './tool-gate.ts';
