/** Where a sub-agent stands, and the checkout of its own it is held to, if it has one. */
export type AgentStand = { readonly cwd: string; readonly root?: string };

/** Which sub-agent a call belongs to, how deep that one is, and where its shell stands. */
export type CallOwners = {
  /** A sub-agent begins there. */
  enter(agentId: string, stand: AgentStand & { readonly depth: number }): void;
  leave(agentId: string): void;
  /** Where the sub-agent stands whose call this is; nothing when it is the conversation's. */
  standOf(callId: string): AgentStand | undefined;
  claim(callId: string, agentId: string): void;
  /** The sub-agent whose call this is; nothing when it is the conversation's. */
  ownerOf(callId: string): string | undefined;
  depthOf(agentId: string): number;
  cwdOf(agentId: string): string | undefined;
  /** The shell of this call went elsewhere; says whether that was a sub-agent's. */
  moved(callId: string, cwd: string): 'sub-agent' | 'conversation';
};

export function createCallOwners(): CallOwners {
  const agents = new Map<string, AgentStand & { readonly depth: number }>();
  const calls = new Map<string, string>();
  const ownerOf = (callId: string) => calls.get(callId) ?? '';
  return {
    enter: (agentId, stand) => void agents.set(agentId, stand),
    leave(agentId) {
      agents.delete(agentId);
      for (const [callId, owner] of calls) if (owner === agentId) calls.delete(callId);
    },
    standOf: (callId) => agents.get(ownerOf(callId)),
    ownerOf: (callId) => calls.get(callId),
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
