import type { QueryDeps } from '../contracts/query.ts';
import type { UserAnswer } from '../contracts/tool.ts';
import type { HookFire } from './create-hooks.ts';

/** Questions of servers can be answered by a hook before anybody is asked, and their answers changed after. */
export function askWithHooks(hooks: HookFire, ask: QueryDeps['ask']): QueryDeps['ask'] {
  return async (callId, question, signal) => {
    if (question.kind !== 'elicitation') return ask(callId, question, signal);
    const { server, message, wants } = question;
    const visit = wants.mode === 'url' ? { elicitation_id: wants.id } : {};
    const about = { mcp_server_name: server, mode: wants.mode, ...visit };
    const asks = wants.mode === 'url' ? { url: wants.url } : { requested_schema: wants.schema };
    const asked = hooks.has('Elicitation')
      ? await hooks.fire('Elicitation', { ...about, message, ...asks }, signal)
      : undefined;
    const answer: UserAnswer | undefined =
      asked?.elicited === undefined
        ? asked?.blocked === undefined
          ? await ask(callId, question, signal)
          : { kind: 'elicitation', action: 'decline' }
        : { kind: 'elicitation', ...asked.elicited };
    if (answer?.kind !== 'elicitation' || !hooks.has('ElicitationResult')) return answer;
    const { action, content = {} } = answer;
    const after = await hooks.fire('ElicitationResult', { ...about, action, content }, signal);
    if (after.blocked !== undefined) return { kind: 'elicitation', action: 'decline' };
    return after.elicited === undefined ? answer : { kind: 'elicitation', ...after.elicited };
  };
}
