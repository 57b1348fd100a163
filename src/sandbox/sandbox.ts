import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Environment } from '../contracts/environment.ts';
import type { Policy, Rule, SandboxPaths } from '../contracts/permission.ts';
import type { SandboxSettings, Settings } from '../contracts/settings.ts';
import { ToolFailure } from '../contracts/tool.ts';
import type { MountHealth } from '../lib/files/mount-health.ts';
import { listFolderNames } from '../lib/files/read-or-default.ts';
import { truncateEnd } from '../lib/text/text-width.ts';
import { isProgramControlFile } from '../permissions/paths/program-files.ts';
import { HOST_RULE_NAME } from '../permissions/rules/rule-families.ts';
import { buildSandboxArgs, probeSandbox, type SandboxProbeResult } from './backend.ts';
import { deleteOldSandboxCaches, prepareSandboxCacheFolder } from './caches.ts';
import { createSandboxPlanner, type DeniedPaths } from './create-plan.ts';
import { createRepositoryGuard } from './nested-repositories.ts';
import { findHostPatternProblem } from './network/host-pattern.ts';
import type { LazyNetwork } from './network/lazy-network.ts';
import type { BlockedConnection, SandboxedCommand } from './network/sandbox-network.ts';
import type { SandboxPlan } from './plan.ts';
import { listNeverWritablePaths, PROTECTED_IN_PROJECT, prepareWritablePaths } from './protected-paths.ts';
import { createSandboxPlaceholders } from './sandbox-placeholders.ts';
import { createFolderScanner } from './scan-folders.ts';

/** The dependencies of the sandbox of a session. */
export type SandboxDeps = {
  readonly environment: Environment;
  readonly cwd: string;
  readonly now: () => number;
  readonly mounts?: Pick<MountHealth, 'findHung'>;
  readonly getSettings: () => Pick<Settings, 'sandbox' | 'env'>;
  /** Returns the workspace folders. */
  readonly getRoots: () => readonly string[];
  readonly sessionFolder: string;
  readonly network: LazyNetwork;
  /** Returns the paths that rules deny to read or to write. */
  readonly getDeniedPaths: (use: 'read' | 'write') => DeniedPaths;
  /** Takes the paths that the decision about a call made writable. */
  readonly takeOpenedPaths: (callId: string) => readonly string[];
};

const MAX_SANDBOXED_CALLS = 100;

/** The state of the sandbox: off, on, or enabled but unavailable on this machine. */
type SandboxState =
  | { readonly is: 'off' }
  | { readonly is: 'on'; readonly plan: SandboxPlan; readonly program: string; readonly networkProblem?: string }
  | { readonly is: 'unavailable'; readonly why: string };

/** The sandbox of shell commands, enabled by settings or `/sandbox on`. If enabled, no command runs without it. */
export type Sandbox = {
  /** Prepares the sandbox of a command; undefined if it is off. Throws if it is enabled but unavailable. */
  wrap(
    command: Omit<SandboxedCommand, 'signal'>,
  ): Promise<((argv: readonly string[]) => readonly string[]) | undefined>;
  getState(): SandboxState;
  /** Overrides the settings for this session. */
  switchTo(wanted: 'on' | 'off' | 'auto'): void;
  /** Returns whether sandboxed commands need approval; undefined if the sandbox is off. */
  getApproval(): Policy['sandbox'];
  /** Returns the paths that every command may write, and those that none may. */
  getPaths(): SandboxPaths;
  /** Cleans up after a command; `over` means that its background processes have ended, too. */
  cleanUp(end: 'exited' | 'over', callId: string): void;
  /** Returns notes for the model about what the sandbox blocked; uses the last output lines of the command. */
  describeBlocked(callId: string, printed: readonly string[]): readonly string[];
  /** Returns the last blocked connections, the oldest first. */
  listBlocked(): readonly BlockedConnection[];
  /** Removes all placeholders and closes the network, even while commands run. */
  close(): void;
};

export function createSandbox({
  mounts,
  environment,
  cwd,
  now,
  getSettings,
  getRoots,
  sessionFolder,
  network,
  getDeniedPaths,
  takeOpenedPaths,
}: SandboxDeps): Sandbox {
  const folder = join(environment.ouroHome, 'sandbox');
  const repositories = createRepositoryGuard(folder);
  const placeholders = createSandboxPlaceholders(join(folder, 'covers'), randomUUID());
  let runningCount = 0;
  /** The last sandboxed calls, with the program files that the workspace had before each. */
  let sandboxedCalls: readonly { readonly id: string; readonly programFiles: readonly string[] }[] = [];
  let override: 'on' | 'off' | 'auto' | undefined;
  const createPlan = createSandboxPlanner({
    ...{ environment, cwd, now },
    getRoots,
    sessionFolder,
    folder,
    getDeniedPaths,
    listSetVariables: () => Object.keys(getSettings().env ?? {}),
    scanFolders: createFolderScanner(now, mounts),
  });
  let probeResult: SandboxProbeResult | undefined;

  function computeState(): SandboxState {
    if (!isEnabled()) return { is: 'off' };
    const plan = createPlan(getSettings().sandbox ?? {});
    probeResult ??= probeSandbox(plan, environment);
    if (!probeResult.ok) return { is: 'unavailable', why: probeResult.why };
    const problem = network.getProblem();
    const networkProblem = problem === undefined ? {} : { networkProblem: problem };
    return { is: 'on', plan, program: probeResult.program, ...networkProblem };
  }

  const isEnabled = () => (override === undefined ? getSettings().sandbox?.enabled === true : override !== 'off');

  return {
    getState: computeState,
    switchTo(next) {
      override = next;
    },
    getApproval() {
      if (!isEnabled() || (probeResult?.ok ?? computeState().is === 'on') === false) return undefined;
      const isAutoAllowed = override === 'auto' || (override !== 'on' && getSettings().sandbox?.autoAllow === true);
      return isAutoAllowed ? 'unasked' : 'asked';
    },
    getPaths() {
      const plan = createPlan(getSettings().sandbox ?? {});
      return { writable: [...plan.roots, ...plan.allowWrite], readOnly: listNeverWritablePaths(plan) };
    },
    async wrap(command) {
      const current = computeState();
      if (current.is === 'off') return undefined;
      if (current.is === 'unavailable') throw new ToolFailure(explainUnavailable(current.why));
      const openedPaths = takeOpenedPaths(command.id);
      prepareWritablePaths(openedPaths, current.plan);
      const filePlan = openedPaths.length === 0 ? current.plan : createPlan(getSettings().sandbox ?? {}, openedPaths);
      const plan = await network.addNetworkAccess(filePlan, current.program, command);
      prepareSandboxCacheFolder(plan.cacheFolder, now());
      // Not awaited: a failed cleanup is repeated in the next session.
      if (sandboxedCalls.length === 0) void deleteOldSandboxCaches(plan.cacheFolder, now()).catch(() => undefined);
      if (runningCount === 0) repositories.remember(plan);
      if (process.platform === 'linux') placeholders.create(plan);
      runningCount += 1;
      const call = { id: command.id, programFiles: listProgramFiles(getRoots()) };
      sandboxedCalls = [...sandboxedCalls, call].slice(-MAX_SANDBOXED_CALLS);
      const sandboxArgs = buildSandboxArgs(current.program, plan);
      return (argv) => [...sandboxArgs, ...argv];
    },
    cleanUp(end, callId) {
      placeholders.repair();
      repositories.disarmNew(createPlan(getSettings().sandbox ?? {}));
      if (end === 'over') {
        runningCount -= 1;
        network.unregister(callId);
      }
      if (runningCount === 0) placeholders.remove();
    },
    describeBlocked(callId, printed) {
      const call = sandboxedCalls.find(({ id }) => id === callId);
      if (call === undefined) return [];
      return [
        ...describeBlockedAccess(network.listBlocked(), callId, printed),
        ...describeNewFiles(call.programFiles, listProgramFiles(getRoots())),
      ];
    },
    listBlocked: network.listBlocked,
    close() {
      placeholders.remove();
      network.close();
    },
  };
}

function describeNewFiles(before: readonly string[], after: readonly string[]): readonly string[] {
  const added = after.filter((path) => !before.includes(path));
  if (added.length === 0) return [];
  return [`[created, and other programs run from it: ${added.join(', ')}. Tell the user what it is for.]`];
}

/** Lists the files directly in the roots that other programs run from, except those that no command can create. */
function listProgramFiles(roots: readonly string[]): readonly string[] {
  const covered: readonly string[] = [...PROTECTED_IN_PROJECT.folders, ...PROTECTED_IN_PROJECT.files];
  return roots.flatMap((root) =>
    listFolderNames(root)
      .filter((name) => isProgramControlFile(name) && !covered.includes(name))
      .toSorted()
      .map((name) => join(root, name)),
  );
}

function explainUnavailable(why: string): string {
  return `Nothing was run: commands must run in a sandbox, which is not available here (${why}). Tell the user; they can install bubblewrap, or set sandbox.enabled to false.`;
}

/** Error messages of programs that could not write a path, by text or error code. */
const WRITE_ERROR = /read-only file system|\bEROFS\b/i;
const WRITE_ERROR_ON_MAC = /operation not permitted|\bEPERM\b/i;

/** Formats notes for the model about what the sandbox blocked: hosts, and writes that failed as seen in the output. */
function describeBlockedAccess(
  refusals: readonly BlockedConnection[],
  callId: string,
  printed: readonly string[],
): readonly string[] {
  const hosts = refusals.flatMap((blocked) => (blocked.callId === callId ? [`${blocked.host} (${blocked.why})`] : []));
  const writeError = process.platform === 'darwin' ? WRITE_ERROR_ON_MAC : WRITE_ERROR;
  return [
    ...(hosts.length === 0 ? [] : [`[blocked by the sandbox: ${hosts.join(', ')}]`]),
    ...(printed.some((line) => writeError.test(line)) ? [`[${WRITE_HINT}]`] : []),
  ];
}

const WRITE_HINT =
  'in the sandbox only the workspace is writable; a command that has to write elsewhere can request the path with sandbox_write';

const MAX_REFUSALS = 10;
const COMMAND_WIDTH = 60;

/** Formats the status of the sandbox for `/sandbox`: paths, approval, network, and the last blocked connections. */
export function formatSandboxStatus(
  sandbox: Pick<Sandbox, 'getState' | 'getApproval' | 'listBlocked'>,
  settings: SandboxSettings = {},
  rules: readonly Rule[] = [],
): string {
  const state = sandbox.getState();
  if (state.is === 'off') return 'The sandbox is off. Turn it on for this session with /sandbox on.';
  if (state.is === 'unavailable')
    return `The sandbox is enabled but not available: ${state.why}. Commands cannot run until it is available or off.`;
  const { roots, allowWrite, denyRead, denyWrite } = state.plan;
  const refusals = sandbox.listBlocked().slice(-MAX_REFUSALS);
  return [
    'Shell commands run in a sandbox.',
    `  writable   ${[...roots, ...allowWrite, 'a private /tmp'].join(', ')}`,
    '  protected  keys and credentials are hidden; .git/hooks, .mcp.json, .envrc, .vscode and similar are read-only',
    '             daemons outside the sandbox are unreachable',
    ...(denyRead.length === 0 ? [] : [`  hidden     ${denyRead.join(', ')}`]),
    ...(denyWrite.length === 0 ? [] : [`  read-only  ${denyWrite.join(', ')}`]),
    sandbox.getApproval() === 'unasked'
      ? '  approval   not needed inside the sandbox, except for ask rules, secrets and sandbox exceptions'
      : '  approval   as without a sandbox; /sandbox auto allows every command that stays inside',
    ...describeNetwork(state.plan, settings, rules).map(
      (line, index) => `${index === 0 ? '  network    ' : '             '}${line}`,
    ),
    ...(state.networkProblem === undefined ? [] : [`             not available: ${state.networkProblem}`]),
    ...describeSockets(state.plan, settings).map((line) => `  sockets    ${line}`),
    ...refusals.map(
      ({ host, why, command }, index) =>
        `${index === 0 ? '  blocked    ' : '             '}${host} (${why}), by ${truncateCommand(command)}`,
    ),
  ].join('\n');
}

function describeNetwork(
  { network }: SandboxPlan,
  settings: SandboxSettings,
  rules: readonly Rule[],
): readonly string[] {
  if (network !== 'hosts') return [network === 'open' ? 'all hosts' : 'none'];
  const { allowedDomains = [], deniedDomains = [], strictAllowlist = false } = settings;
  const listRuleHosts = (behavior: Rule['behavior']) =>
    rules.flatMap((rule) =>
      rule.tool === HOST_RULE_NAME && rule.behavior === behavior && rule.specifier !== undefined
        ? [rule.specifier.replace(/^domain:/, '')]
        : [],
    );
  const allowed = [...allowedDomains, ...listRuleHosts('allow')];
  const denied = [...deniedDomains, ...listRuleHosts('deny')];
  return [
    strictAllowlist ? 'allowed hosts only' : 'per host; a new host needs approval',
    ...(allowed.length === 0 ? [] : [`allowed: ${allowed.join(', ')}`]),
    ...(denied.length === 0 ? [] : [`denied: ${denied.join(', ')}`]),
    ...[...allowed, ...denied].flatMap((pattern) => findHostPatternProblem(pattern) ?? []),
  ];
}

function describeSockets(
  { unixSockets, localPorts }: SandboxPlan,
  { allowUnixSockets = [] }: SandboxSettings,
): readonly string[] {
  return [
    ...(unixSockets === 'all' ? ['all Unix sockets (commands can control the daemons that listen on them)'] : []),
    ...(unixSockets !== 'all' && allowUnixSockets.length > 0 ? [allowUnixSockets.join(', ')] : []),
    ...(localPorts === 'open' ? ['local ports of this machine (macOS)'] : []),
  ];
}

function truncateCommand(command: string): string {
  return truncateEnd(command.trim().split('\n')[0] ?? '', COMMAND_WIDTH);
}
