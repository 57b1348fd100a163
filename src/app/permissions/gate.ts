import type { AgentPort } from '../../agent/parts.ts';
import type { ConversationInfo } from '../../contracts/face/conversation.ts';
import type { HostFiles } from '../../contracts/face/host.ts';
import type { PermissionMode, Policy, RememberDestination, Rule } from '../../contracts/permission.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { CallRequest } from '../../contracts/tool.ts';
import { stricterMode } from '../../extensions/tools-of-agent.ts';
import { traceJson } from '../../permissions/explain.ts';
import { createGate } from '../../permissions/gate.ts';
import type { GateParts, GateRecord } from '../../permissions/gate-parts.ts';
import { diskFs } from '../../permissions/paths/fs.ts';
import { previewEdit } from '../../tools/preview-edit.ts';
import { factsOf } from './tool-facts.ts';

/** A call that was refused, as results and `/permissions` list it. */
export type Denial = ConversationInfo['permissionDenials'][number];

export type GateWiring = {
  readonly policy: (cwd: string, mode?: PermissionMode) => Policy;
  readonly mode: () => PermissionMode;
  /** Where paths begin that are written with `~`, and who shows the files that edits change. */
  readonly files: { readonly home: string; readonly editor: HostFiles | undefined };
  readonly canAsk: boolean;
  readonly record: (entry: GateRecord) => void;
  readonly onDenial: (denial: Denial) => void;
  readonly remember: (rules: readonly string[], destination: RememberDestination) => Promise<void>;
  readonly changeMode: (mode: PermissionMode) => void;
  readonly newId: () => string;
};

/** Whom a gate asks: a person, and before that a hook that may answer for them, or in mode auto the judge. */
export type AskingPort = AgentPort & Pick<GateParts, 'askHook' | 'judge'>;

/** What narrows or widens the gate for some calls: a sub-agent's mode and place, the rules of a command's file. */
export type GateBounds = {
  readonly mode?: PermissionMode;
  /** Asked at each decision. */
  readonly rules?: () => readonly Rule[];
  /** Who is asked about these calls in place of the person at this face. */
  readonly ask?: AgentPort['askPermission'];
  /** Belongs to the workspace of these calls alone, before all other folders. */
  readonly root?: string;
  /** Where notes are kept: its Markdown files are guarded by rules alone. */
  readonly notes?: string;
};

/** The gate of one query: every decision is told, and so written down, before anything runs. */
export function makeGate(wiring: GateWiring, port: AskingPort, bounds: GateBounds = {}): QueryDeps['gate'] {
  return createGate({
    policy(cwd) {
      const policy = wiring.policy(cwd, stricterMode(wiring.mode(), bounds.mode));
      const { rules = () => [], root, notes } = bounds;
      const workspaceRoots = root === undefined ? policy.workspaceRoots : [root, ...policy.workspaceRoots];
      const opened = notes === undefined ? {} : { notesFolder: notes };
      return { ...policy, ...opened, workspaceRoots, rules: [...policy.rules, ...rules()] };
    },
    fs: diskFs,
    factsOf,
    ...(port.askHook === undefined ? {} : { askHook: port.askHook }),
    ...(port.judge === undefined ? {} : { judge: port.judge }),
    ...(bounds.ask === undefined && !wiring.canAsk ? {} : { ask: bounds.ask ?? port.askPermission }),
    preview: (facts, cwd, signal) => previewEdit(facts, { cwd, ...wiring.files }, signal),
    record: recorder(wiring, port),
    remember: wiring.remember,
    changeMode: wiring.changeMode,
    newId: wiring.newId,
  });
}

/** A refusal that never reached the gate, because a hook spoke first. */
export function hookRefusal(wiring: GateWiring, port: AgentPort, request: CallRequest, reason: string): void {
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
  recorder(wiring, port)({ ...entry, decision: { ...decision, hardens: [] } });
}

function recorder(wiring: GateWiring, port: AgentPort): (entry: GateRecord) => void {
  return (entry) => {
    wiring.record(entry);
    const { request, input, verdict, message } = entry;
    const trace = [...traceJson(entry.decision.trace)];
    const { callId, tool } = request;
    if (message !== undefined) wiring.onDenial({ tool, callId, input, reason: message, trace });
    // The transcript hears it in order, so it stands there before the result of the call.
    void port.tell({ type: 'permission_decision', callId, tool, input, verdict, trace });
  };
}
