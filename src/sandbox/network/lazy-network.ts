import { lookup } from 'node:dns/promises';
import type { Environment } from '../../contracts/environment.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { findNsenter } from '../backend.ts';
import type { SandboxPlan } from '../plan.ts';
import type { OutboundConnectionSettings } from './outbound.ts';
import type { BlockedConnection, SandboxedCommand, SandboxNetwork, SandboxNetworkDeps } from './sandbox-network.ts';

type Command = Omit<SandboxedCommand, 'signal'>;

/** The network of the sandboxes of a session, loaded and opened when the first command needs it. */
export type LazyNetwork = ReturnType<typeof createLazyNetwork>;

/** Creates the network of a session; `open` is called once. */
export function createLazyNetwork(open: (plan: SandboxPlan, bwrap: string) => Promise<SandboxNetwork>) {
  let opening: Promise<SandboxNetwork> | undefined;
  let network: SandboxNetwork | undefined;
  let problem: string | undefined;
  return {
    /** Adds network access for a command to its plan. If that fails, the plan is unchanged and `problem` says why. */
    async addNetworkAccess(plan: SandboxPlan, bwrap: string, command: Command): Promise<SandboxPlan> {
      if (plan.network !== 'hosts') return plan;
      try {
        opening ??= open(plan, bwrap);
        network = await opening;
        const networkAccess = await network.register(command);
        problem = undefined;
        return { ...plan, networkAccess };
      } catch (thrown) {
        problem = getErrorMessage(thrown);
        return plan;
      }
    },
    getProblem: (): string | undefined => problem,
    unregister: (callId: string) => network?.unregister(callId),
    listBlocked: (): readonly BlockedConnection[] => network?.listBlocked() ?? [],
    close: () => network?.close(),
  };
}

type NetworkDeps = {
  readonly environment: Environment;
  readonly decideHost: SandboxNetworkDeps['decideHost'];
  /** Returns the hosts and addresses that the settings allow. */
  readonly listAllowedDomains: () => readonly string[];
  /** Resolves host names; replaced in tests. */
  readonly resolve?: OutboundConnectionSettings['resolveHost'];
};

/** Opens the network with the programs and the name resolution of this machine. */
export async function openSandboxNetwork(
  { environment, decideHost, listAllowedDomains, resolve: resolveHost = lookupAddresses }: NetworkDeps,
  plan: SandboxPlan,
  bwrap: string,
): Promise<SandboxNetwork> {
  const { createSandboxNetwork } = await import('./sandbox-network.ts');
  const parts: SandboxNetworkDeps = {
    decideHost,
    getOutboundSettings: () => ({ variables: environment.variables, resolveHost, allowedHosts: listAllowedDomains() }),
    javaOptions: environment.variables.JAVA_TOOL_OPTIONS,
  };
  if (process.platform !== 'linux') return createSandboxNetwork(parts);
  const nsenter = findNsenter(environment, plan);
  const { openNetworkBridge } = await import('./network-bridge.ts');
  const createBridge = (socket: string, port: number) =>
    openNetworkBridge({ bwrap, nsenter, runtime: process.execPath, socket, port });
  return createSandboxNetwork({ ...parts, createBridge });
}

async function lookupAddresses(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
