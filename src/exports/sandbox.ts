/** Sandboxes for programs, and the permission rules that they follow. */

export { createPermissionPolicySource } from '../permissions/permission-policy-source.ts';
export { isPathInside } from '../permissions/resolve-path.ts';
export { parseRule } from '../permissions/rules/parse-rule.ts';
export { SANDBOX_EXCEPTION_RULE_NAME } from '../permissions/rules/rule-families.ts';
export { listDeniedPaths } from '../sandbox/create-plan.ts';
export { isSecretVariable } from '../sandbox/credentials.ts';
export { createLazyNetwork, openSandboxNetwork } from '../sandbox/network/lazy-network.ts';
export { createNetworkGate } from '../sandbox/network/network-gate.ts';
export { PROTECTED_IN_PROJECT } from '../sandbox/protected-paths.ts';
export { createSandbox } from '../sandbox/sandbox.ts';
