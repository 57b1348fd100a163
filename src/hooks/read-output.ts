import { z } from 'zod';
import type { HookEvent, HookOutput } from '../contracts/hook.ts';

const answer = z.object({
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
      /** How a PermissionRequest hook may answer in other programs of this kind. */
      decision: z
        .object({
          behavior: z.enum(['allow', 'deny']),
          updatedInput: z.record(z.string(), z.json()).optional(),
          message: z.string().optional(),
        })
        .optional(),
    })
    .optional(),
});

/** Events whose plain output is context for the model. */
const PLAIN_CONTEXT: readonly HookEvent[] = ['UserPromptSubmit', 'SessionStart'];

/** What a hook printed, understood; or why it could not be. */
export function readOutput(
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
    return fromJson(JSON.parse(text));
  } catch {
    return { ok: false, why: 'printed something that begins like JSON and is not' };
  }
}

/** The same for an answer that came as a value. */
export function fromJson(
  value: unknown,
): { readonly ok: true; readonly output: HookOutput } | { readonly ok: false; readonly why: string } {
  const parsed = answer.safeParse(value);
  if (!parsed.success)
    return { ok: false, why: `answered with "${parsed.error.issues[0]?.path.join('.')}" of the wrong kind` };
  const { hookSpecificOutput: { decision: answered, ...specific } = {}, ...common } = parsed.data;
  const { behavior, updatedInput, message } = answered ?? {};
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
