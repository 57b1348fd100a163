import type { PermissionAnswer, PermissionRequest } from '../contracts/permission.ts';
import type { CallRequest, GateVerdict, Tool } from '../contracts/tool.ts';
import { createGate } from '../permissions/gate.ts';
import { diskFs } from '../permissions/paths/fs.ts';
import { factsOfTools, policyOf, type Rules } from './decisions.ts';

/** Decides whether a call may run. */
export type ToolGate = (call: CallRequest, signal: AbortSignal) => Promise<GateVerdict>;

/** What a gate of rules goes by. */
export type GateRules = Rules & {
  /** Tools of your own that say what a call touches (`facts`); the built-in ones are known. */
  readonly tools?: readonly Tool[];
  /** Answers for a person; left out, what would be asked is denied. */
  readonly onAsk?: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;
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
    factsOf: factsOfTools(given.tools ?? []),
    ...(given.onAsk === undefined ? {} : { ask: given.onAsk }),
    record: () => undefined,
    remember: async () => undefined,
    changeMode: () => undefined,
    newId: () => crypto.randomUUID(),
  });
  return (call, signal) => gate(call, {}, signal);
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
