import { z } from 'zod';
import type { RunOptions } from '../../../contracts/frontend/run-options.ts';

/** The permission policies of the tools of one MCP server inside the host. */
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

/**
 * Adds the `always_ask` and `always_deny` tools of the host's servers to its policy. Other values add nothing: a policy
 * cannot allow.
 */
export function addToolPolicies(policy: string | undefined, configs: ServerConfigs): Pick<RunOptions, 'policy'> {
  const namedRules = Object.entries(configs).flatMap(([server, { tools }]) =>
    tools.map(({ name, permission_policy: toolPolicy }) => ({
      rule: `${formatServerRule(server)}__${name}`,
      toolPolicy,
    })),
  );
  const listRules = (toolPolicy: string) =>
    namedRules.filter((entry) => entry.toolPolicy === toolPolicy).map(({ rule }) => rule);
  const [deny, ask] = [listRules('always_deny'), listRules('always_ask')];
  if (deny.length + ask.length === 0) return policy === undefined ? {} : { policy };
  const parsed = policySchema.parse(policy === undefined ? { permissions: {} } : JSON.parse(policy));
  const { permissions } = parsed;
  return {
    policy: JSON.stringify({
      ...parsed,
      permissions: { ...permissions, deny: [...permissions.deny, ...deny], ask: [...permissions.ask, ...ask] },
    }),
  };
}

/** Returns the permission rule that matches all tools of an MCP server. */
export function formatServerRule(server: string): string {
  const normalizedName = server
    .replaceAll(/[^\w-]/g, '_')
    .replaceAll(/_+/g, '_')
    .replaceAll(/^_|_$/g, '');
  return `mcp__${normalizedName}`;
}
