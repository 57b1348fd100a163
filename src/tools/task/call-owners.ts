/** Which sub-agent a call belongs to, how deep that one is, and where its shell stands. */
export type CallOwners = {
  /** A sub-agent begins, asked for by a call that may itself be a sub-agent's. */
  enter(agentId: string, parentCall: string, cwd: string): void;
  leave(agentId: string): void;
  claim(callId: string, agentId: string): void;
  depthOf(agentId: string): number;
  cwdOf(agentId: string): string | undefined;
  /** The shell of this call went elsewhere; says whether that was a sub-agent's. */
  moved(callId: string, cwd: string): 'sub-agent' | 'conversation';
};

export function createCallOwners(): CallOwners {
  const agents = new Map<string, { readonly depth: number; readonly cwd: string }>();
  const calls = new Map<string, string>();
  const ownerOf = (callId: string) => calls.get(callId) ?? '';
  return {
    enter(agentId, parentCall, cwd) {
      const parent = agents.get(ownerOf(parentCall));
      agents.set(agentId, { depth: (parent?.depth ?? 0) + 1, cwd: parent?.cwd ?? cwd });
    },
    leave(agentId) {
      agents.delete(agentId);
      for (const [callId, owner] of calls) if (owner === agentId) calls.delete(callId);
    },
    claim: (callId, agentId) => void calls.set(callId, agentId),
    depthOf: (agentId) => agents.get(agentId)?.depth ?? 1,
    cwdOf: (agentId) => agents.get(agentId)?.cwd,
    moved(callId, cwd) {
      const owner = ownerOf(callId);
      const agent = agents.get(owner);
      if (agent === undefined) return 'conversation';
      agents.set(owner, { ...agent, cwd });
      return 'sub-agent';
    },
  };
}
