import type { AgentPort } from '../agent/parts.ts';
import { isJsonObject, type JsonObject } from '../contracts/json.ts';
import type { PermissionMode, PermissionRequest } from '../contracts/permission.ts';
import type { QueryDeps } from '../contracts/query.ts';
import type { CallRequest } from '../contracts/tool.ts';
import { diskFs } from '../permissions/fs.ts';
import { isInside, resolvePath } from '../permissions/paths.ts';

export type GateParts = {
  readonly roots: () => readonly string[];
  readonly home: string;
  readonly mode: () => PermissionMode;
  /** Is somebody there to answer? */
  readonly canAsk: boolean;
  readonly onDenial: (request: CallRequest, reason: string) => void;
  readonly newId: () => string;
};

/** Reading inside the workspace is allowed; everything else is asked, and refused when nobody can answer. */
export function makeGate(parts: GateParts, port: AgentPort): QueryDeps['gate'] {
  return async (request, hint, signal) => {
    if (hint.ask === undefined && request.isReadOnly && staysInside(request, parts))
      return { behavior: 'allow', input: request.input };
    if (!parts.canAsk) {
      const message = `${request.tool} needs permission and nobody is there to give it (mode ${parts.mode()}).`;
      parts.onDenial(request, message);
      void port.tell({
        type: 'permission_decision',
        callId: request.callId,
        tool: request.tool,
        input: request.input,
        verdict: 'deny',
        trace: [message],
      });
      return { behavior: 'deny', message, interrupt: false };
    }
    const answer = await port.askPermission(questionOf(request, parts), signal);
    if (answer.behavior === 'allow') return { behavior: 'allow', input: answer.updatedInput ?? request.input };
    const message = answer.message ?? 'The user refused this call.';
    parts.onDenial(request, message);
    return { behavior: 'deny', message, interrupt: answer.interrupt ?? false };
  };
}

function staysInside(request: CallRequest, parts: GateParts): boolean {
  return pathsOf(request.input).every((path) => {
    const resolved = resolvePath(diskFs, { cwd: request.cwd, home: parts.home }, path);
    return resolved.problem === undefined && parts.roots().some((root) => isInside(resolved.real, root));
  });
}

function pathsOf(input: JsonObject): readonly string[] {
  return ['file_path', 'path', 'notebook_path'].flatMap((key) => {
    const value = input[key];
    return typeof value === 'string' ? [value] : [];
  });
}

function questionOf(request: CallRequest, parts: GateParts): PermissionRequest {
  const description =
    isJsonObject(request.input) && typeof request.input.description === 'string'
      ? { description: request.input.description }
      : {};
  return {
    id: parts.newId(),
    callId: request.callId,
    toolName: request.tool,
    title: request.title,
    ...description,
    facts: { tool: request.tool, input: request.input, kind: 'other' },
    reasons: [],
    targets: [],
    suggestions: [],
    trace: [],
    danger: 'none',
    concealed: 'none',
  };
}
