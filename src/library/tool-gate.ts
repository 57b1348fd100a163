import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import type { PermissionAnswer, PermissionMode, PermissionRequest, Policy } from '../contracts/permission.ts';
import type { CallRequest, GateVerdict, Tool } from '../contracts/tool.ts';
import { factsFrom } from '../permissions/facts.ts';
import { createGate } from '../permissions/gate.ts';
import { diskFs } from '../permissions/paths/fs.ts';
import { rulesOfTexts } from '../permissions/rules/collect-rules.ts';
import { TOOL_STATEMENTS } from '../tools/statements.ts';
import { processVariables } from './surroundings.ts';

/** Decides whether a call may run. */
export type ToolGate = (call: CallRequest, signal: AbortSignal) => Promise<GateVerdict>;

/** What a gate of rules goes by. */
export type GateRules = {
  /** The folder that is worked in: what lies in it may be read. */
  readonly cwd: string;
  readonly mode?: PermissionMode;
  /** Rules as in a settings file: `Bash(npm test:*)`, `Read(.env)`, `WebFetch(domain:example.com)`. */
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  /** More folders that may be worked in. */
  readonly directories?: readonly string[];
  /** Answers for a person; left out, what would be asked is denied. */
  readonly onAsk?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
  readonly home?: string;
};

/** Lets calls run that only read, and nothing else. */
export const readOnlyGate: ToolGate = async ({ isReadOnly, input, tool }) =>
  isReadOnly
    ? { behavior: 'allow', input }
    : { behavior: 'deny', message: `${tool} is not allowed here: only reading is.`, interrupt: false };

/** Lets every call run: for a machine that may be broken. */
export const openGate: ToolGate = async ({ input }) => ({ behavior: 'allow', input });

/** The gate of ouro itself: rules, modes, protected places, and the analysis of shell commands. */
export function rulesGate(given: GateRules): ToolGate {
  const gate = createGate({
    policy: (cwd) => policyOf(given, cwd),
    fs: diskFs,
    factsOf: factsFrom(TOOL_STATEMENTS),
    ...(given.onAsk === undefined ? {} : { ask: given.onAsk }),
    record: () => undefined,
    remember: async () => undefined,
    changeMode: () => undefined,
    newId: () => crypto.randomUUID(),
  });
  return (call, signal) => gate(call, {}, signal);
}

function policyOf(given: GateRules, cwd: string): Policy {
  const { allow = [], ask = [], deny = [], mode = 'default', directories = [], home = homedir() } = given;
  const origin = { source: 'flag', root: given.cwd } as const;
  return {
    mode,
    rules: [
      ...rulesOfTexts(deny, 'deny', origin),
      ...rulesOfTexts(ask, 'ask', origin),
      ...rulesOfTexts(allow, 'allow', origin),
    ],
    workspaceRoots: [given.cwd, ...directories],
    cwd,
    home,
    trusted: true,
    canBypass: mode === 'bypassPermissions',
    protectedPaths: [],
    sensitivePaths: [],
    searchPath: (processVariables().PATH ?? '').split(delimiter),
    disk: process.platform === 'darwin' || process.platform === 'win32' ? 'case-insensitive' : 'case-sensitive',
  };
}

/** The same tool in one folder, behind a gate of its own. */
export function gated(tool: Tool, { cwd, gate }: { readonly cwd: string; readonly gate: ToolGate }): Tool {
  return {
    ...tool,
    prepare(input) {
      const prepared = tool.prepare(input);
      if (!prepared.ok) return prepared;
      const { call } = prepared;
      return {
        ok: true,
        call: {
          ...call,
          async call(context) {
            const { title, isReadOnly } = call;
            const request = { callId: context.callId, tool: tool.name, title, input: call.input, cwd, isReadOnly };
            const verdict = await gate(request, context.signal);
            if (verdict.behavior === 'deny') return { content: verdict.message, isError: true };
            const changed = verdict.input === call.input ? prepared : tool.prepare(verdict.input);
            if (!changed.ok) return { content: changed.problem, isError: true };
            return changed.call.call({ ...context, cwd });
          },
        },
      };
    },
  };
}
