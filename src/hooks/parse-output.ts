import { z } from 'zod';
import type { HookEvent, HookOutput } from '../contracts/hook.ts';

const outputSchema = z.lazy(() =>
  z.object({
    continue: z.boolean().optional(),
    stopReason: z.string().optional(),
    suppressOutput: z.boolean().optional(),
    systemMessage: z.string().optional(),
    decision: z.enum(['approve', 'block']).optional(),
    reason: z.string().optional(),
    hookSpecificOutput: z
      .object({
        permissionDecision: z.enum(['allow', 'deny', 'ask']).optional(),
        permissionDecisionReason: z.string().optional(),
        updatedInput: z.record(z.string(), z.json()).optional(),
        additionalContext: z.string().optional(),
        updatedToolOutput: z.json().optional(),
        worktreePath: z.string().optional(),
        action: z.enum(['accept', 'decline', 'cancel']).optional(),
        content: z.record(z.string(), z.json()).optional(),
        watchPaths: z.array(z.string()).optional(),
        sessionTitle: z.string().optional(),
        reloadSkills: z.boolean().optional(),
        displayContent: z.string().optional(),
        /** Alternative form of a PermissionRequest hook's decision, used by other assistants. */
        decision: z
          .object({
            behavior: z.enum(['allow', 'deny']),
            updatedInput: z.record(z.string(), z.json()).optional(),
            message: z.string().optional(),
          })
          .optional(),
      })
      .optional(),
  }),
);

/** Events whose plain-text output is context for the model. */
const PLAIN_CONTEXT: readonly HookEvent[] = ['UserPromptSubmit', 'SessionStart'];

/** Parses the output of a hook's command, or returns why it is invalid. */
export function parseHookOutput(
  event: HookEvent,
  stdout: string,
): { readonly ok: true; readonly output: HookOutput } | { readonly ok: false; readonly why: string } {
  const text = stdout.trim();
  if (!text.startsWith('{')) {
    if (text === '') return { ok: true, output: {} };
    if (event === 'WorktreeCreate') return { ok: true, output: { worktreePath: text.split('\n').at(-1) ?? text } };
    return { ok: true, output: PLAIN_CONTEXT.includes(event) ? { additionalContext: text } : {} };
  }
  try {
    return parseHookJson(JSON.parse(text));
  } catch {
    return { ok: false, why: 'printed invalid JSON' };
  }
}

/** Parses the output of a hook that is already a JSON value. */
export function parseHookJson(
  value: unknown,
): { readonly ok: true; readonly output: HookOutput } | { readonly ok: false; readonly why: string } {
  const parsed = outputSchema.safeParse(value);
  if (!parsed.success)
    return { ok: false, why: `answered with an invalid "${parsed.error.issues[0]?.path.join('.')}"` };
  const { hookSpecificOutput: { decision: permission, ...specific } = {}, ...common } = parsed.data;
  const { behavior, updatedInput, message } = permission ?? {};
  return {
    ok: true,
    output: {
      ...common,
      ...(behavior === undefined ? {} : { permissionDecision: behavior }),
      ...(message === undefined ? {} : { permissionDecisionReason: message }),
      ...(updatedInput === undefined ? {} : { updatedInput }),
      ...specific,
    },
  };
}
