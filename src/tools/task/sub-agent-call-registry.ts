/** Current directory of a sub-agent, and the root of its own worktree, if it has one. */
export type SubAgentWorkingDir = { readonly cwd: string; readonly root?: string };

/** Tracks which sub-agent a call belongs to, with the depth and current directory of each sub-agent. */
export type SubAgentCallRegistry = ReturnType<typeof createSubAgentCallRegistry>;

/** Creates an empty registry of sub-agents and their calls. */
export function createSubAgentCallRegistry() {
  const agents = new Map<string, SubAgentWorkingDir & { readonly depth: number }>();
  const calls = new Map<string, string>();
  const ownerOf = (callId: string) => calls.get(callId) ?? '';
  return {
    /** Registers a sub-agent. */
    addAgent: (agentId: string, location: SubAgentWorkingDir & { readonly depth: number }) =>
      void agents.set(agentId, location),
    removeAgent(agentId: string) {
      agents.delete(agentId);
      for (const [callId, owner] of calls) if (owner === agentId) calls.delete(callId);
    },
    /** Returns the location of the sub-agent a call belongs to; `undefined` for calls of the conversation. */
    getLocation: (callId: string): SubAgentWorkingDir | undefined => agents.get(ownerOf(callId)),
    /** Returns the id of the sub-agent a call belongs to; `undefined` for calls of the conversation. */
    getOwner: (callId: string): string | undefined => calls.get(callId),
    assignCall: (callId: string, agentId: string): void => void calls.set(callId, agentId),
    getDepth: (agentId: string): number => agents.get(agentId)?.depth ?? 1,
    getCwd: (agentId: string): string | undefined => agents.get(agentId)?.cwd,
    /** Updates the current directory after a call; returns `conversation` if the call belongs to no sub-agent. */
    updateCwd(callId: string, cwd: string): 'sub-agent' | 'conversation' {
      const owner = ownerOf(callId);
      const agent = agents.get(owner);
      if (agent === undefined) return 'conversation';
      agents.set(owner, { ...agent, cwd });
      return 'sub-agent';
    },
  };
}
