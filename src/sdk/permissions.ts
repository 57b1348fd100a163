/** `@ouro-cli/agent/permissions`: permission decisions by rules, without running anything. */
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
  ToolTraits,
  TraceStep,
} from '../contracts/permission.ts';
export { decide } from '../permissions/decide.ts';
export { diskFs, type PermissionFs } from '../permissions/permission-fs.ts';
export { parseRule } from '../permissions/rules/parse-rule.ts';
export {
  createFactsLookup as factsOfTools,
  createPermissionPolicy as policyOf,
  createRulesGate as rulesGate,
  decideCall as decisionOf,
  type GateRules,
  openGate,
  type ProposedCall,
  type Rules,
  readOnlyGate,
  type ToolGate,
  wrapWithGate,
} from './permission-gates.ts';
