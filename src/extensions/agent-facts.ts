import type { AgentKind, MemoryScope } from '../contracts/extension.ts';
import { EFFORTS } from '../contracts/model.ts';
import { MODES } from '../contracts/permission.ts';
import { type FrontMatter, flagFact, listFact, objectFact, textFact, wordsFact } from '../lib/text/front-matter.ts';

type Facts = FrontMatter['facts'];

const SCOPES: readonly MemoryScope[] = ['user', 'project', 'local'];

/** What a head says of a sub-agent besides its name and its words, and the fields of it that change nothing here. */
export function agentFacts(facts: Facts): {
  readonly kind: Omit<AgentKind, 'name' | 'description' | 'prompt' | 'source'>;
  readonly unused: readonly string[];
} {
  const tools = wordsFact(facts, 'tools');
  const model = textFact(facts, 'model');
  const turns = Number(textFact(facts, 'maxTurns') ?? Number.NaN);
  const mode = oneOf(MODES, textFact(facts, 'permissionMode'));
  const effort = oneOf(EFFORTS, textFact(facts, 'effort'));
  const memory = oneOf(SCOPES, textFact(facts, 'memory'));
  const isolation = oneOf(['worktree'] as const, textFact(facts, 'isolation'));
  const skills = listFact(facts, 'skills');
  const servers = serverNames(facts.mcpServers);
  const hooks = objectFact(facts, 'hooks');
  const color = textFact(facts, 'color');
  const kind = {
    disallowedTools: wordsFact(facts, 'disallowedTools') ?? [],
    ...(tools === undefined || tools.includes('*') ? {} : { tools }),
    ...(model === undefined || model === 'inherit' ? {} : { model }),
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(Number.isInteger(turns) && turns > 0 ? { maxTurns: turns } : {}),
    ...(effort === undefined ? {} : { effort }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(flagFact(facts, 'background') === true ? { background: true as const } : {}),
    ...(skills === undefined ? {} : { skills }),
    ...(memory === undefined ? {} : { memory }),
    ...(servers === undefined || servers.length === 0 ? {} : { mcpServers: servers }),
    ...(hooks === undefined ? {} : { hooks }),
    ...(color === undefined ? {} : { color }),
  };
  return { kind, unused: unusedFields(facts, kind, servers) };
}

/** Fields that need no place of their own: who is meant by them, or they are said already. */
const SAID = ['name', 'description', 'prompt', 'when_to_use', 'version', 'author', 'license', 'metadata', 'tags'];
/** Fields whose value may be there without anything to keep of it. */
const NEUTRAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  model: (value) => value === 'inherit',
  tools: () => true,
  background: (value) => value === false || value === 'false',
  mcpServers: (value) => Array.isArray(value) && value.length === 0,
};

function unusedFields(facts: Facts, kind: object, servers: readonly string[] | undefined): readonly string[] {
  const unknown = Object.entries(facts).filter(
    ([field, value]) =>
      value !== null &&
      value !== '' &&
      !SAID.includes(field) &&
      !Object.hasOwn(kind, field) &&
      !(Object.hasOwn(NEUTRAL, field) && NEUTRAL[field]?.(value) === true),
  );
  const named = Array.isArray(facts.mcpServers) ? facts.mcpServers.length : 0;
  const own = servers !== undefined && servers.length > 0 && servers.length < named ? ['mcpServers'] : [];
  return [...unknown.map(([field, value]) => (isShort(value) ? `${field}: ${value}` : field)), ...own];
}

function isShort(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) && String(value).length <= 24;
}

/** Servers by their name; one that is described here and configured nowhere else is none. */
function serverNames(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim());
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
}

function oneOf<Word extends string>(known: readonly Word[], wanted: string | undefined): Word | undefined {
  return known.find((one) => one === wanted);
}
