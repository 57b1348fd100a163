import type { AgentPort } from '../../agent/agent-deps.ts';
import type { ConversationInfo } from '../../contracts/frontend/conversation.ts';
import type { HostFiles } from '../../contracts/frontend/host-capabilities.ts';
import type { PermissionMode, Policy, Rule } from '../../contracts/permission.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { CallRequest } from '../../contracts/tool.ts';
import { selectStricterMode } from '../../extensions/apply-agent.ts';
import { MOUNT_NOT_ANSWERING, type MountHealth } from '../../lib/files/mount-health.ts';
import { omitUndefined } from '../../lib/json.ts';
import { serializeDecisionTrace } from '../../permissions/explain.ts';
import { diskFs, rejectHungMountPaths } from '../../permissions/permission-fs.ts';
import {
  createPermissionGate,
  type GateDecisionRecord,
  type PermissionGateDeps,
} from '../../permissions/permission-gate.ts';
import { findHungMount } from '../../permissions/resolve-path.ts';
import { previewEdit } from '../../tools/edit/preview-edit.ts';
import { getToolFacts } from '../../tools/tool-traits.ts';

/** A denied call, as listed in results and `/permissions`. */
export type DeniedToolCall = ConversationInfo['permissionDenials'][number];

/** The dependencies of all gates of a session; each gate adds who answers and what it previews. */
export type QueryPermissionGateDeps = Omit<
  PermissionGateDeps,
  'fs' | 'getPolicy' | 'getToolFacts' | 'askHook' | 'askJudge' | 'askUser' | 'createPreview'
> & {
  readonly getPolicy: (cwd: string, mode?: PermissionMode) => Policy;
  readonly getMode: () => PermissionMode;
  /** Home folder, and the editor whose unsaved files edits are previewed against. */
  readonly files: { readonly home: string; readonly editor: HostFiles | undefined };
  readonly mounts: MountHealth;
  readonly canAsk: boolean;
  readonly onDenial: (denial: DeniedToolCall) => void;
};

/** The agent port extended by those who may answer before the user: a hook, and the judge of auto mode. */
export type AgentPortWithApprovers = AgentPort & Pick<PermissionGateDeps, 'askHook' | 'askJudge'>;

/** Restrictions or extensions of a gate for some calls: those of a sub-agent, or of a slash command's file. */
export type PermissionGateOverrides = {
  readonly mode?: PermissionMode;
  /** Additional rules; called for each decision. */
  readonly getRules?: () => readonly Rule[];
  /** Answers approval requests of these calls in place of the user of this frontend. */
  readonly askUser?: AgentPort['askPermission'];
  /** First workspace folder, for these calls only. */
  readonly firstRoot?: string;
  /** Folder of notes, whose Markdown files are not protected; only rules apply. */
  readonly notesFolder?: string;
};

/** Creates the gate of one query. Every decision is emitted, and so recorded, before the call runs. */
export function createQueryPermissionGate(
  deps: QueryPermissionGateDeps,
  port: AgentPortWithApprovers,
  bounds: PermissionGateOverrides = {},
): QueryDeps['gate'] {
  const fs = rejectHungMountPaths(diskFs, deps.mounts);
  const gate = createPermissionGate({
    ...deps,
    getPolicy(cwd) {
      const policy = deps.getPolicy(cwd, selectStricterMode(deps.getMode(), bounds.mode));
      const { getRules = () => [], firstRoot, notesFolder: notes } = bounds;
      const workspaceRoots = firstRoot === undefined ? policy.workspaceRoots : [firstRoot, ...policy.workspaceRoots];
      const notesFolder = notes === undefined ? {} : { notesFolder: notes };
      return { ...policy, ...notesFolder, workspaceRoots, rules: [...policy.rules, ...getRules()] };
    },
    fs,
    getToolFacts,
    ...omitUndefined({ askHook: port.askHook, askJudge: port.askJudge }),
    ...(bounds.askUser === undefined && !deps.canAsk ? {} : { askUser: bounds.askUser ?? port.askPermission }),
    createPreview: (facts, cwd, signal) => previewEdit(facts, { cwd, ...deps.files }, signal),
    onDecision: createRecorder(deps, port),
  });
  return async (request, hint, signal) => {
    const message = await explainHungPath(request, deps);
    if (message !== undefined) return { behavior: 'deny', message, interrupt: false, cause: 'obstacle' };
    return gate(request, hint, signal);
  };
}

/**
 * Returns what the model is told about a call whose path is in a mount that does not answer. Commands are let pass:
 * they have a time limit of their own.
 */
async function explainHungPath(
  { tool, input, cwd }: CallRequest,
  { mounts, files }: QueryPermissionGateDeps,
): Promise<string | undefined> {
  const { reads = [], searches = [], writes = [], kind } = getToolFacts(tool, input, cwd);
  if (kind === 'shell') return void (await mounts.check());
  for (const path of [...reads, ...searches, ...writes]) {
    const hung = await findHungMount(path, { cwd, home: files.home }, mounts);
    if (hung !== undefined)
      return `${path} is in ${hung}, and ${MOUNT_NOT_ANSWERING}. Go on without it, or ask the user to mount it again.`;
  }
  return undefined;
}

/** Records a call that a hook denied before it reached the gate. */
export function recordHookDenial(
  deps: QueryPermissionGateDeps,
  port: Pick<AgentPort, 'emit'>,
  request: CallRequest,
  reason: string,
): void {
  const step = { stage: 'hook', verdict: 'deny', text: reason } as const;
  const decision = {
    verdict: 'deny',
    reasons: [reason],
    matched: [],
    trace: [step],
    suggestions: [],
    targets: [],
  } as const;
  const entry = { request, input: request.input, verdict: 'deny', by: 'hook', message: reason } as const;
  createRecorder(deps, port)({ ...entry, decision: { ...decision, hardens: [] } });
}

function createRecorder(
  deps: QueryPermissionGateDeps,
  port: Pick<AgentPort, 'emit'>,
): (entry: GateDecisionRecord) => void {
  return (entry) => {
    deps.onDecision(entry);
    const { request, input, verdict, message } = entry;
    const trace = [...serializeDecisionTrace(entry.decision.trace)];
    const { callId, tool } = request;
    if (message !== undefined) deps.onDenial({ tool, callId, input, reason: message, trace });
    // Not awaited: listeners get events in order, so the transcript has it before the result of the call.
    void port.emit({ type: 'permission_decision', callId, tool, input, verdict, trace });
  };
}
