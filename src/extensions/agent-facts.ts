import type { AgentKind, MemoryScope } from '../contracts/extension.ts';
import { isJsonObject, type JsonObject } from '../contracts/json.ts';
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
  const own = ownServers(facts.mcpServers);
  const servers = [...serverNames(facts.mcpServers), ...Object.keys(own)];
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
    ...(servers.length === 0 ? {} : { mcpServers: servers }),
    ...(Object.keys(own).length === 0 ? {} : { ownServers: own }),
    ...(hooks === undefined ? {} : { hooks }),
    ...(color === undefined ? {} : { color }),
  };
  return { kind, unused: unusedFields(facts, kind) };
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

function unusedFields(facts: Facts, kind: object): readonly string[] {
  const unknown = Object.entries(facts).filter(
    ([field, value]) =>
      value !== null &&
      value !== '' &&
      !SAID.includes(field) &&
      !Object.hasOwn(kind, field) &&
      !(Object.hasOwn(NEUTRAL, field) && NEUTRAL[field]?.(value) === true),
  );
  return unknown.map(([field, value]) => (isShort(value) ? `${field}: ${value}` : field));
}

function isShort(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) && String(value).length <= 24;
}

/** Servers that are configured elsewhere, by their names. */
function serverNames(value: FrontMatter['facts'][string]): readonly string[] {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim());
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Servers that are described here: a list of names and descriptions, or the descriptions by their names. */
function ownServers(value: FrontMatter['facts'][string]): JsonObject {
  const parts = Array.isArray(value) ? value : [value];
  return Object.assign({}, ...parts.filter((one) => isJsonObject(one)));
}

function oneOf<Word extends string>(known: readonly Word[], wanted: string | undefined): Word | undefined {
  return known.find((one) => one === wanted);
}
