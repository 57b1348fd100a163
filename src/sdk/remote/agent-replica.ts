import { copyPartialReply, createAgentState, reduceAgentState } from '../../agent/agent-state.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import { deepFreeze } from '../../lib/json.ts';
import type { AgentSnapshot } from '../agent/options.ts';

/** The state of an agent, computed from a snapshot and the events after it. */
export type AgentReplica = {
  apply(event: AgentEvent): void;
  replace(snapshot: AgentSnapshot): void;
  snapshot(): AgentSnapshot;
};

/** Creates the mirror of an agent. */
export function createAgentReplica(first: AgentSnapshot): AgentReplica {
  let fixed = first;
  let state = readSnapshot(first);
  return {
    apply(event) {
      state = reduceAgentState(state, event);
      if (event.type === 'spending') fixed = { ...fixed, spent: event.total };
    },
    replace(snapshot) {
      fixed = snapshot;
      state = readSnapshot(snapshot);
    },
    snapshot() {
      const { status, messages, activity, queue, permissions, questions } = state;
      const partial = copyPartialReply(activity.partial);
      const pending = { pendingPermissions: permissions, pendingQuestions: questions };
      return deepFreeze({ ...fixed, status, messages, ...activity, partial, queue, ...pending });
    },
  };
}

function readSnapshot({ messages, queue, status, partial, running, lastError, ...rest }: AgentSnapshot) {
  return {
    ...createAgentState(messages, queue),
    status,
    activity: { partial: copyPartialReply(partial), running, lastError },
    permissions: rest.pendingPermissions,
    questions: rest.pendingQuestions,
  };
}
