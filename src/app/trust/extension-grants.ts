import { createHash } from 'node:crypto';
import type { PromptTemplate, SubAgentDefinition } from '../../contracts/extension.ts';
import type { TrustEffect } from '../../contracts/frontend/first-run.ts';
import type { Extensions } from '../../extensions/load-extensions.ts';
import { validateHooks } from '../../settings/drop-invalid-settings.ts';
import { describeSettingsEffects } from '../../settings/settings-needing-approval.ts';

/** Computes a fingerprint of what the project's commands, skills and sub-agents allow and run. */
export function fingerprintExtensionGrants(
  callables: readonly PromptTemplate[],
  agents: readonly SubAgentDefinition[],
): string {
  const granting = callables
    .filter(
      ({ source, allowedTools, hooks }) => source === 'project' && (allowedTools.length > 0 || hooks !== undefined),
    )
    .map(({ name, allowedTools, body, hooks }) => ({ name, allowedTools, body, hooks }));
  const hooked = agents
    .filter(({ source, hooks }) => source === 'project' && hooks !== undefined)
    .map(({ name, hooks }) => ({ name, hooks }));
  const all = [...granting, ...hooked];
  if (all.length === 0) return 'nothing';
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}

/** Removes what the project's commands, skills and sub-agents allow and run. */
export function removeExtensionGrants(extensions: Extensions): Extensions {
  return {
    ...extensions,
    commands: extensions.commands.map(removeGrants),
    skills: extensions.skills.map(removeGrants),
    agents: extensions.agents.map(removeHooks),
  };
}

function removeGrants<Kind extends PromptTemplate>(callable: Kind): Kind {
  return callable.source === 'project' ? { ...removeHooks(callable), allowedTools: [] } : callable;
}

function removeHooks<Carrier extends Pick<PromptTemplate, 'source' | 'hooks'>>(carrier: Carrier): Carrier {
  return carrier.source === 'project' && carrier.hooks !== undefined ? { ...carrier, hooks: {} } : carrier;
}

/** Describes what commands, skills and sub-agents allow and run. */
export function describeExtensionGrants(
  callables: readonly PromptTemplate[],
  agents: readonly SubAgentDefinition[],
): readonly TrustEffect[] {
  return [...callables.flatMap(describeCallable), ...agents.flatMap(describeHooks)];
}

function describeCallable(callable: PromptTemplate): readonly TrustEffect[] {
  const { name, allowedTools, path } = callable;
  const text = `/${name} may run ${allowedTools.join(', ')} without asking`;
  const grants: readonly TrustEffect[] = allowedTools.length === 0 ? [] : [{ kind: 'command', text, file: path }];
  return [...grants, ...describeHooks(callable)];
}

/** Describes the hooks in a file's front matter in the same way as those of settings. */
function describeHooks({
  name,
  hooks,
  path: file = name,
}: Pick<SubAgentDefinition, 'name' | 'hooks' | 'path'>): readonly TrustEffect[] {
  if (hooks === undefined) return [];
  const effects = describeSettingsEffects({
    source: 'project',
    file,
    settings: { hooks: validateHooks(hooks).hooks },
    lineOf: () => undefined,
  });
  return effects.map((effect) => ({ ...effect, text: `while ${name} is active, ${effect.text}` }));
}
