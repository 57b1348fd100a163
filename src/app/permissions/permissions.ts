import type { AgentPort } from '../../agent/parts.ts';
import type { PermissionUpdate } from '../../contracts/face/host.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { Decision, PermissionMode, Rule } from '../../contracts/permission.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import { changePermissions } from '../../permissions/change-permissions.ts';
import { bypassObjection } from '../../permissions/first-mode.ts';
import { fitsRule } from '../../permissions/fits-rule.ts';
import type { GateRecord } from '../../permissions/gate-parts.ts';
import { lintRules } from '../../permissions/lint-rules.ts';
import { deniedPlaces } from '../../permissions/paths/denied-places.ts';
import { excludedFromSearch } from '../../permissions/paths/excluded.ts';
import { diskFs } from '../../permissions/paths/fs.ts';
import { TOOL_STATEMENTS } from '../../tools/statements.ts';
import type { Core } from '../core.ts';
import { createBoxWay, openBoxNetwork } from './box-way.ts';
import { createCallGuards } from './call-guards.ts';
import { type AskingPort, type Denial, type GateBounds, type GateWiring, hookRefusal, makeGate } from './gate.ts';
import { createHostGate } from './host-gate.ts';
import { makePolicy, type PolicySource } from './policy.ts';
import { type Sandbox, wireSandbox } from './sandbox.ts';
import { factsOf } from './tool-facts.ts';

/** A decision as `/why` and `/permissions` show it. */
export type KeptDecision = {
  readonly tool: string;
  readonly title: string;
  readonly verdict: 'allow' | 'deny';
  readonly by: GateRecord['by'];
  readonly decision: Decision;
};

const KEPT_DECISIONS = 100;

/** Everything the rest of a conversation asks of its permissions. */
export type Permissions = PolicySource & {
  /** May asking be switched off in this run? */
  readonly mayBypass: boolean;
  gate(port: AskingPort, bounds?: GateBounds): QueryDeps['gate'];
  /** The same hooks, with what they refuse among the denials. */
  watched(port: AgentPort, beforeCall: QueryDeps['beforeCall']): QueryDeps['beforeCall'];
  denials(): readonly Denial[];
  /** The newest decisions, the oldest first. */
  decisions(): readonly KeptDecision[];
  /** What searches leave out: denied places and files of secrets. */
  excluded(): readonly string[];
  fitsRule(rule: string, tool: string, input: JsonObject): boolean;
  /** Variables for the command of this call alone; `undefined` takes one away. */
  shellVariables(callId: string): Readonly<Record<string, string | undefined>>;
  /** Throws when the file about to change is not the one the call was allowed for. */
  confirmTarget(path: string): Promise<void>;
  readonly sandbox: Sandbox;
  /** What calls of the session were allowed to write, as far as that was known. */
  written(): readonly string[];
  update(updates: readonly PermissionUpdate[]): Promise<void>;
  /** Rules that cannot be read, can never match or contradict another, as sentences for the start. */
  warnings(): readonly string[];
};

type Needs = {
  readonly sessionFolder: string;
  /** What earlier runs of the session refused. */
  readonly refusals?: readonly Denial[];
};

/** Joins rules, modes and folders of all sources to one gate. */
export function createPermissions(core: Core, { sessionFolder, refusals = [] }: Needs): Permissions {
  const { options, environment, live, settings } = core;
  const mayBypass = bypassObjection(options, settings.now(), environment) === undefined;
  const changes = changePermissions({
    cwd: core.cwd,
    live,
    home: environment.home,
    ouroHome: environment.ouroHome,
    trusted: core.trusted,
    notice: (level, text) => void core.bus.tell({ type: 'notice', level, topic: 'permissions', text }),
    onStored: settings.approveOwnChange,
  });
  const source = makePolicy({
    options,
    environment,
    cwd: core.cwd,
    trusted: core.trusted,
    loaded: settings.loaded,
    live: live.now,
    mayBypass,
    current: changes.current,
    sessionFolder,
    copiedSecrets: () => guards.copies(),
    sandbox: () => sandbox.asks(),
    sandboxPlaces: () => sandbox.places(),
  });
  const guards = createCallGuards(settings.variables, (at) => source.policy(at));
  const denials: Denial[] = [...refusals];
  const decisions: KeptDecision[] = [];
  const nobody = options.permissionPrompt === undefined && (options.face === 'print' || options.face === 'host');

  const gateWiring: GateWiring = {
    policy: source.policy,
    mode: () => live.now().mode,
    files: { home: environment.home, editor: options.host?.files },
    canAsk: !nobody,
    record,
    onDenial: (denial) => denials.push(denial),
    remember: changes.remember,
    changeMode,
    newId: core.newId,
  };

  const sandbox = boxes(core, gateWiring, { source, sessionFolder, opened: guards.opened });

  return {
    ...source,
    mayBypass,
    gate: (port, bounds) => makeGate(gateWiring, port, bounds),
    watched: (port, beforeCall) => async (request, signal) => {
      const before = await beforeCall(request, signal);
      const refusal = before.deny ?? before.stop;
      if (refusal !== undefined) hookRefusal(gateWiring, port, request, refusal);
      return before;
    },
    denials: () => denials,
    decisions: () => decisions,
    excluded: () => excludedFromSearch(source.policy(live.now().cwd)),
    fitsRule: (rule, tool, input) =>
      fitsRule(rule, { tool, input }, source.policy(live.now().cwd), { fs: diskFs, factsOf }),
    shellVariables: guards.shellVariables,
    confirmTarget: guards.confirmTarget,
    written: guards.written,
    sandbox,
    update: changes.apply,
    warnings: () => ruleWarnings(source.rules()),
  };

  function record(entry: GateRecord): void {
    guards.record(entry);
    const { request, verdict, by, decision } = entry;
    decisions.push({ tool: request.tool, title: request.title, verdict, by, decision });
    if (decisions.length > KEPT_DECISIONS) decisions.shift();
  }

  function changeMode(mode: PermissionMode): void {
    if (mode === 'bypassPermissions' && !mayBypass) return;
    live.change({ mode });
  }
}

/** Boxes whose hosts and places are decided by the same rules as calls. */
function boxes(
  core: Core,
  wiring: GateWiring,
  {
    source,
    ...needs
  }: Pick<Parameters<typeof wireSandbox>[1], 'sessionFolder' | 'opened'> & { readonly source: PolicySource },
): Sandbox {
  const decide = createHostGate(core, wiring);
  return wireSandbox(core, {
    ...needs,
    roots: source.roots,
    denied: (use) => deniedPlaces(source.withoutBox(core.cwd), use),
    way: createBoxWay((plan, bwrap) => openBoxNetwork(core, { decide }, plan, bwrap)),
  });
}

function ruleWarnings(rules: readonly Rule[]): readonly string[] {
  return lintRules(rules, TOOL_STATEMENTS)
    .filter(({ kind }) => kind !== 'shadowed')
    .map(({ text }) => text);
}
