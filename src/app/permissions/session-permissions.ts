import type { PermissionUpdate } from '../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Decision, PermissionMode, Policy, Rule, SandboxPolicy } from '../../contracts/permission.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { CallRequest } from '../../contracts/tool.ts';
import { createLazy } from '../../lib/memoize.ts';
import { createAnsweredScripts } from '../../permissions/answered-scripts.ts';
import { toPosixPolicy } from '../../permissions/create-decision-context.ts';
import { matchesRule } from '../../permissions/decide.ts';
import { findBypassProblem } from '../../permissions/initial-mode.ts';
import { findRuleProblems } from '../../permissions/lint-rules.ts';
import { listSearchExclusions } from '../../permissions/paths/search-exclusions.ts';
import { diskFs, type PermissionFs, rejectHungMountPaths } from '../../permissions/permission-fs.ts';
import type { GateDecisionRecord } from '../../permissions/permission-gate.ts';
import {
  createPermissionPolicySource,
  type PermissionPolicySource,
} from '../../permissions/permission-policy-source.ts';
import { createPermissionUpdater } from '../../permissions/permission-updater.ts';
import { listDeniedPaths } from '../../sandbox/create-plan.ts';
import { createDenySandbox, type DenySandbox } from '../../sandbox/deny-sandbox.ts';
import { createLazyNetwork, openSandboxNetwork } from '../../sandbox/network/lazy-network.ts';
import { createNetworkGate } from '../../sandbox/network/network-gate.ts';
import { createPrivateTmp, PRIVATE_FOLDER } from '../../sandbox/private-tmp.ts';
import { createReadOnlySandbox, type ReadOnlySandbox } from '../../sandbox/read-only/read-only-sandbox.ts';
import { createSandbox, type Sandbox, type SandboxDeps } from '../../sandbox/sandbox.ts';
import { getUnfinishedWritesDir } from '../../session/paths.ts';
import { buildChildVariables } from '../../settings/effective-environment.ts';
import { mergeSettingsLayers } from '../../settings/merge-settings.ts';
import { type CallGuards, createCallGuards } from '../../tools/call-guards.ts';
import { getToolFacts, TOOL_TRAITS } from '../../tools/tool-traits.ts';
import type { Core } from '../core.ts';
import { type CommandTrials, createCommandTrials } from './command-trials.ts';
import {
  type AgentPortWithApprovers,
  createQueryPermissionGate,
  type DeniedToolCall,
  type PermissionGateOverrides,
  type QueryPermissionGateDeps,
  recordHookDenial,
} from './query-permission-gate.ts';

/** A past decision, as shown by `/why` and `/permissions`. */
export type PastDecision = {
  readonly tool: string;
  readonly title: string;
  readonly verdict: 'allow' | 'deny';
  readonly by: GateDecisionRecord['by'];
  readonly decision: Decision;
};

const MAX_DECISIONS = 100;

/** The permissions of a session: its policy, gates, past decisions and sandbox. */
export type SessionPermissions = PermissionPolicySource & {
  /** True if bypass mode is allowed in this run. */
  readonly canBypass: boolean;
  /** True if approval can be requested in this run. */
  readonly canAsk: boolean;
  createGate(port: AgentPortWithApprovers, bounds?: PermissionGateOverrides): QueryDeps['gate'];
  /** Records a call that a hook denied. */
  recordHookDenial(request: CallRequest, reason: string): void;
  listDenials(): readonly DeniedToolCall[];
  /** Returns the last decisions, the oldest first. */
  listDecisions(): readonly PastDecision[];
  /** Returns globs that searches must exclude: denied paths and secret files. */
  listSearchExclusions(): readonly string[];
  matchesRule(rule: string, tool: string, input: JsonObject): boolean;
  /** Returns variables for the command of one call; undefined removes one. */
  takeShellVariables: CallGuards['takeShellVariables'];
  /** Throws if the file about to be written is not one that a call was allowed to write. */
  confirmTarget(path: string): Promise<void>;
  /** The disk without mounts that do not answer. */
  readonly fs: PermissionFs;
  readonly sandbox: Sandbox;
  readonly readOnlySandbox: ReadOnlySandbox;
  readonly denySandbox: DenySandbox;
  /** Prepares the run of a command in a throw-away layer; rejects if there can be none. */
  readonly prepareTrial: CommandTrials['prepare'];
  /** Returns the files that calls of this session were allowed to write, as far as known. */
  listWrittenFiles(): readonly string[];
  applyUpdates(updates: readonly PermissionUpdate[]): Promise<void>;
  /** Returns warnings about rules that are invalid, never match or contradict each other. */
  listRuleWarnings(): readonly string[];
};

type PermissionsDeps = {
  readonly sessionFolder: string;
  /** Denials in earlier runs of the session. */
  readonly refusals?: readonly DeniedToolCall[];
};

/** Creates the permissions of a session from the rules, modes and folders of all sources. */
export function createSessionPermissions(
  core: Core,
  { sessionFolder, refusals = [] }: PermissionsDeps,
): SessionPermissions {
  const { options, environment, live, settings, mounts } = core;
  const canBypass = findBypassProblem(options, settings.current(), environment) === undefined;
  const changes = createPermissionUpdater({
    cwd: core.cwd,
    live,
    home: environment.home,
    ouroHome: environment.ouroHome,
    trusted: core.trusted,
    showNotice: (level, text) => void core.bus.emit({ type: 'notice', level, topic: 'permissions', text }),
    onStored: settings.approveOwnChange,
  });
  const source = createPermissionPolicySource(
    {
      ...{ options, environment, cwd: core.cwd, trusted: core.trusted, canBypass },
      getLoadedSettings: settings.loaded,
      getLive: live.current,
    },
    {
      folder: sessionFolder,
      updateRules: changes.updateRules,
      getFacts: () => ({
        taintedPaths: guards.listTaintedFiles(),
        isCreatedHere: guards.isCreatedHere,
        frozenPaths: core.programs.listFrozen(),
      }),
      getSandboxPolicy: () => ({
        canEnforceReadOnly: readOnlySandbox.canEnforceReadOnly,
        ...describeSandbox(sandbox, sandbox.getApproval()),
      }),
    },
  );
  const { getUnsandboxedPolicy: getPolicy } = source;
  const privateTmp = createPrivateTmp(core.now);
  const readOnlySandbox = createReadOnlySandbox({
    ...{ environment, sessionFolder, getPolicy, mounts, privateTmp },
    now: core.now,
  });
  const fs = rejectHungMountPaths(diskFs, mounts);
  const guards = createCallGuards(createVariablesReader(core), (at) => source.getPolicy(at), fs);
  const denials: DeniedToolCall[] = [...refusals];
  const decisions: PastDecision[] = [];
  const isUnattended =
    options.permissionPrompt === undefined && (options.frontend === 'print' || options.frontend === 'host');

  const gateDeps: QueryPermissionGateDeps = {
    getPolicy: source.getPolicy,
    getMode: () => live.current().mode,
    files: { home: environment.home, editor: options.host?.files },
    mounts,
    canAsk: !isUnattended,
    onDecision,
    onDenial: (denial) => denials.push(denial),
    answeredScripts: createAnsweredScripts(environment.ouroHome),
    rememberRules: changes.rememberRules,
    changeMode,
    offerSandbox: (policy) => (sandbox.canTurnOn() ? { ...policy, ...describeSandbox(sandbox, 'unasked') } : undefined),
    turnOnSandbox,
    canTry: () => settings.current().commandTrial === 'on' && getTrials().canTry(),
    newId: core.newId,
  };
  const getTrials = createLazy(() =>
    createCommandTrials({
      ...{ environment, readOnlySandbox, privateTmp, getPolicy, now: core.now },
      locks: core.locks,
      unfinished: getUnfinishedWritesDir(environment.ouroHome),
    }),
  );

  const sandbox = createSessionSandbox(core, gateDeps, {
    source,
    sessionFolder,
    privateTmp,
    takeOpenedPaths: guards.takeOpenedPaths,
  });

  return {
    ...source,
    fs,
    canBypass,
    canAsk: gateDeps.canAsk,
    createGate: (port, bounds) => createQueryPermissionGate(gateDeps, port, bounds),
    recordHookDenial: (request, reason) => recordHookDenial(gateDeps, core.bus, request, reason),
    listDenials: () => denials,
    listDecisions: () => decisions,
    listSearchExclusions: () => listSearchExclusions(toPosixPolicy(source.getPolicy(live.current().cwd), fs)),
    matchesRule: (rule, tool, input) =>
      matchesRule(rule, { tool, input }, source.getPolicy(live.current().cwd), { fs, getToolFacts }),
    takeShellVariables: guards.takeShellVariables,
    confirmTarget: guards.confirmTarget,
    listWrittenFiles: guards.listWrittenFiles,
    sandbox,
    readOnlySandbox,
    prepareTrial: (command) => getTrials().prepare(command),
    denySandbox: createDenySandbox({
      ...{ environment, getPolicy, mounts, privateTmp, now: core.now },
      canEnforce: readOnlySandbox.canEnforceReadOnly,
    }),
    applyUpdates: changes.applyUpdates,
    listRuleWarnings: () => listWarnings(source.getRules()),
  };

  function onDecision(entry: GateDecisionRecord): void {
    guards.record(entry);
    const { request, verdict, by, decision } = entry;
    decisions.push({ tool: request.tool, title: request.title, verdict, by, decision });
    if (decisions.length > MAX_DECISIONS) decisions.shift();
  }

  function turnOnSandbox(): void {
    sandbox.switchTo('auto');
    const text =
      'Commands run in the sandbox and may write in this project without a question. /sandbox off ends this.';
    void core.bus.emit({ type: 'notice', level: 'info', topic: 'permissions', text });
  }

  function changeMode(mode: PermissionMode): void {
    if (mode === 'bypassPermissions' && !canBypass) return;
    live.update({ mode });
  }
}

/** Creates the reader of the variables of commands, and of those without what the project adds. */
function createVariablesReader({ environment, settings }: Core) {
  return () => {
    const ownLayers = settings.loaded().layers.filter(({ source }) => source !== 'project' && source !== 'local');
    return { all: settings.variables(), own: buildChildVariables(environment, mergeSettingsLayers(ownLayers)) };
  };
}

/** Describes the sandbox of commands for the policy; without approval there is none. */
function describeSandbox({ getPaths }: Sandbox, approval: Policy['sandbox']): SandboxPolicy {
  return approval === undefined ? {} : { sandbox: approval, sandboxPaths: getPaths, privateFolder: PRIVATE_FOLDER };
}

/** Creates the sandbox, whose hosts and paths are decided by the same rules as calls. */
function createSessionSandbox(
  { environment, cwd, mounts, now, newId, settings, bus }: Core,
  { getPolicy, canAsk, rememberRules, changeMode }: QueryPermissionGateDeps,
  {
    source,
    ...deps
  }: Pick<SandboxDeps, 'sessionFolder' | 'takeOpenedPaths' | 'privateTmp'> & {
    readonly source: PermissionPolicySource;
  },
): Sandbox {
  const decideHost = createNetworkGate({
    ...{ getPolicy, canAsk, rememberRules, changeMode, newId },
    getSettings: () => settings.current().sandbox ?? {},
    askUser: (request, signal) => bus.getPort().askPermission(request, signal),
  });
  const listAllowedDomains = () => settings.current().sandbox?.allowedDomains ?? [];
  return createSandbox({
    ...deps,
    environment,
    cwd,
    mounts,
    now,
    getSettings: settings.current,
    getRoots: source.getRoots,
    getDeniedPaths: (use) => listDeniedPaths(source.getUnsandboxedPolicy(cwd), use),
    network: createLazyNetwork((plan, bwrap) =>
      openSandboxNetwork({ environment, decideHost, listAllowedDomains }, plan, bwrap),
    ),
  });
}

function listWarnings(rules: readonly Rule[]): readonly string[] {
  return findRuleProblems(rules, TOOL_TRAITS)
    .filter(({ kind }) => kind !== 'shadowed')
    .map(({ text }) => text);
}
