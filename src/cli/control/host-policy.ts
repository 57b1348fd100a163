import { z } from 'zod';
import type { RunOptions } from '../../contracts/face/run-options.ts';

/** What a host lays down for the tools of one of its own servers. */
export const serverConfigSchema = z.looseObject({
  tools: z.array(z.object({ name: z.string(), permission_policy: z.string().optional() })).catch([]),
});

type ServerConfigs = Readonly<Record<string, z.output<typeof serverConfigSchema>>>;

const policySchema = z.looseObject({
  permissions: z.looseObject({ deny: z.array(z.string()).catch([]), ask: z.array(z.string()).catch([]) }).catch({
    deny: [],
    ask: [],
  }),
});

/** The policy of the host with the tools it wants asked about or refused; what it allows is no policy. */
export function policyWith(policy: string | undefined, configs: ServerConfigs): Pick<RunOptions, 'policy'> {
  const all = Object.entries(configs).flatMap(([server, { tools }]) =>
    tools.map(({ name, permission_policy: wanted }) => ({ rule: `${serverRule(server)}__${name}`, wanted })),
  );
  const rules = (wanted: string) => all.filter((one) => one.wanted === wanted).map(({ rule }) => rule);
  const [deny, ask] = [rules('always_deny'), rules('always_ask')];
  if (deny.length + ask.length === 0) return policy === undefined ? {} : { policy };
  const given = policySchema.parse(policy === undefined ? { permissions: {} } : JSON.parse(policy));
  const { permissions } = given;
  return {
    policy: JSON.stringify({
      ...given,
      permissions: { ...permissions, deny: [...permissions.deny, ...deny], ask: [...permissions.ask, ...ask] },
    }),
  };
}

/** The rule that means all tools of a server. */
export function serverRule(server: string): string {
  const plain = server
    .replaceAll(/[^\w-]/g, '_')
    .replaceAll(/_+/g, '_')
    .replaceAll(/^_|_$/g, '');
  return `mcp__${plain}`;
}
