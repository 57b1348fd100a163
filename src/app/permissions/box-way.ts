import { lookup } from 'node:dns/promises';
import { messageOf } from '../../lib/errors.ts';
import type { BoxNetwork, BoxNetworkParts, Caller, Refusal } from '../../sandbox/network/box-network.ts';
import type { WayOut } from '../../sandbox/network/way-out.ts';
import type { SandboxPlan } from '../../sandbox/plan.ts';
import { programThatEnters } from '../../sandbox/probe.ts';
import type { Core } from '../core.ts';

type Command = Omit<Caller, 'signal'>;

/** The way out for commands in boxes. Nothing of it is loaded before a command needs it. */
export type BoxWay = {
  /** The plan with the way of this command; without one when there is none to be had, which `problem` tells. */
  planFor(plan: SandboxPlan, bwrap: string, command: Command): Promise<SandboxPlan>;
  problem(): string | undefined;
  leave(callId: string): void;
  refusals(): readonly Refusal[];
  close(): void;
};

export function createBoxWay(open: (plan: SandboxPlan, bwrap: string) => Promise<BoxNetwork>): BoxWay {
  let opening: Promise<BoxNetwork> | undefined;
  let network: BoxNetwork | undefined;
  let problem: string | undefined;
  return {
    async planFor(plan, bwrap, command) {
      if (plan.network !== 'hosts') return plan;
      try {
        opening ??= open(plan, bwrap);
        network = await opening;
        const way = await network.join(command);
        problem = undefined;
        return { ...plan, way };
      } catch (thrown) {
        problem = messageOf(thrown);
        return plan;
      }
    },
    problem: () => problem,
    leave: (callId) => network?.leave(callId),
    refusals: () => network?.refusals() ?? [],
    close: () => network?.close(),
  };
}

/** With what this machine has. Tests have names of their own. */
export async function openBoxNetwork(
  { environment, settings }: Pick<Core, 'environment' | 'settings'>,
  { decide, resolve = addressesOf }: Pick<BoxNetworkParts, 'decide'> & { readonly resolve?: WayOut['resolve'] },
  plan: SandboxPlan,
  bwrap: string,
): Promise<BoxNetwork> {
  const { createBoxNetwork } = await import('../../sandbox/network/box-network.ts');
  const parts = {
    decide,
    way: () => ({
      variables: environment.variables,
      resolve,
      named: settings.now().sandbox?.allowedDomains ?? [],
    }),
    javaOptions: environment.variables.JAVA_TOOL_OPTIONS,
  };
  if (process.platform !== 'linux') return createBoxNetwork(parts);
  const nsenter = programThatEnters(environment, plan);
  const { openBridge } = await import('../../sandbox/network/bridge.ts');
  const bridge = (socket: string, port: number) =>
    openBridge({ bwrap, nsenter, runtime: process.execPath, socket, port });
  return createBoxNetwork({ ...parts, bridge });
}

async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
