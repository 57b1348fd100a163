import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import type { JsonObject } from '../contracts/json.ts';
import type { Decision, PermissionAnswer, PermissionMode, PermissionRequest, Policy } from '../contracts/permission.ts';
import type { CallRequest, GateVerdict, Tool } from '../contracts/tool.ts';
import { describeChangedInput } from '../engine/tool-calls/admit-call.ts';
import { omitUndefined } from '../lib/json.ts';
import { createToolFactsLookup, type GetToolFacts } from '../permissions/create-decision-context.ts';
import { decide } from '../permissions/decide.ts';
import { diskFs } from '../permissions/permission-fs.ts';
import { createPermissionGate } from '../permissions/permission-gate.ts';
import { parseRuleTexts } from '../permissions/rules/parse-rule.ts';
import type { AgentTool } from '../tools/definition/application-tool.ts';
import { interceptCalls } from '../tools/definition/intercept-calls.ts';
import { TOOL_TRAITS } from '../tools/tool-traits.ts';
import { getEnvironmentVariables } from './runtime.ts';

/** The rules, mode and folders of a permission decision. */
export type Rules = {
  /** Workspace folder; files in it may be read. */
  readonly cwd: string;
  readonly mode?: PermissionMode;
  /** Rules as in a settings file: `Bash(npm test:*)`, `Read(.env)`, `WebFetch(domain:example.com)`. */
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  /** Additional workspace folders. */
  readonly directories?: readonly string[];
  /** Home folder, for `~` in paths. */
  readonly home?: string;
};

/** A call to decide about. */
export type ProposedCall = {
  readonly tool: string;
  readonly input: JsonObject;
  /** Working directory of the call; by default that of the rules. */
  readonly cwd?: string;
};

/** Decides about a call without running it: allow, ask or deny, with the reasons and rules. Reads the file system. */
export function decideCall(rules: Rules & { readonly tools?: readonly Tool[] }, call: ProposedCall): Decision {
  const { tool, input, cwd = rules.cwd } = call;
  return decide(createFactsLookup(rules.tools ?? [])(tool, input, cwd), createPermissionPolicy(rules, cwd), diskFs);
}

/** Creates the lookup of the facts of calls, for the given tools and the built-in ones. */
export function createFactsLookup(tools: readonly Tool[]): GetToolFacts {
  const traits = tools.flatMap((tool) => tool.traits ?? []);
  return createToolFactsLookup([...TOOL_TRAITS, ...traits]);
}

/** Creates the policy for `decide`, for a call in one folder. */
export function createPermissionPolicy(rules: Rules, cwd: string): Policy {
  const { allow = [], ask = [], deny = [], mode = 'default', directories = [], home = homedir() } = rules;
  const origin = { source: 'flag', root: rules.cwd } as const;
  return {
    mode,
    rules: [
      ...parseRuleTexts(deny, 'deny', origin),
      ...parseRuleTexts(ask, 'ask', origin),
      ...parseRuleTexts(allow, 'allow', origin),
    ],
    workspaceRoots: [rules.cwd, ...directories],
    cwd,
    home,
    trusted: true,
    canBypass: mode === 'bypassPermissions',
    protectedPaths: [],
    sensitivePaths: [],
    searchPath: (getEnvironmentVariables().PATH ?? '').split(delimiter),
    disk: process.platform === 'darwin' || process.platform === 'win32' ? 'case-insensitive' : 'case-sensitive',
  };
}

/** Decides whether a call may run. */
export type ToolGate = (call: CallRequest, signal: AbortSignal) => Promise<GateVerdict>;

/** The options of a gate with rules. */
export type GateRules = Rules & {
  /** Custom tools that state the facts of their calls; the built-in tools are known. */
  readonly tools?: readonly Tool[];
  /** Answers permission prompts; without it, calls that need approval are denied. */
  readonly onAsk?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
};

/** Allows only read-only calls. */
export const readOnlyGate: ToolGate = async ({ isReadOnly, input, tool }) =>
  isReadOnly
    ? { behavior: 'allow', input }
    : { behavior: 'deny', message: `${tool} is not allowed here: only reading is.`, interrupt: false };

/** Allows every call, for disposable machines. */
export const openGate: ToolGate = async ({ input }) => ({ behavior: 'allow', input });

/** Creates the gate of ouro itself: rules, modes, protected paths, and the analysis of shell commands. */
export function createRulesGate(rules: GateRules): ToolGate {
  const gate = createPermissionGate({
    getPolicy: (cwd) => createPermissionPolicy(rules, cwd),
    fs: diskFs,
    getToolFacts: createFactsLookup(rules.tools ?? []),
    ...(rules.onAsk === undefined ? {} : { askUser: rules.onAsk }),
    onDecision: () => undefined,
    rememberRules: async () => undefined,
    changeMode: () => undefined,
    newId: () => crypto.randomUUID(),
  });
  return (call, signal) => gate(call, {}, signal);
}

/** Wraps a tool so that it works in one folder, behind a permission gate, which decides about its calls. */
export function wrapWithGate(tool: Tool, { cwd, gate }: { readonly cwd: string; readonly gate: ToolGate }): AgentTool {
  const gated = interceptCalls<AgentTool>(tool, async (call, context) => {
    const { title, isReadOnly, input, shell } = call;
    const request = {
      callId: context.callId,
      tool: tool.name,
      title,
      input,
      cwd,
      isReadOnly,
      ...omitUndefined({ shell }),
    };
    const verdict = await gate(request, context.signal);
    if (verdict.behavior === 'deny') return { content: verdict.message, isError: true };
    const approved = verdict.input === input ? { ok: true as const, call } : tool.prepare(verdict.input);
    if (!approved.ok) return { content: approved.problem, isError: true };
    const outcome = await approved.call.call({ ...context, cwd, ...omitUndefined({ enforce: verdict.enforce }) });
    const attachments = [describeChangedInput(input, verdict), outcome.attachment].filter((text) => text !== undefined);
    return attachments.length === 0 ? outcome : { ...outcome, attachment: attachments.join('\n\n') };
  });
  // The gate asks, so a tool that says nothing about itself is not asked about a second time.
  return Object.assign(gated, { requiresApproval: gated.requiresApproval ?? (() => undefined) });
}
