import { z } from 'zod';
import type { MemoryScope, SubAgentDefinition } from '../contracts/extension.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import { EFFORTS } from '../contracts/model.ts';
import { PERMISSION_MODES } from '../contracts/permission.ts';
import { omitUndefined } from '../lib/json.ts';
import {
  type FrontMatter,
  getFrontMatterBoolean,
  getFrontMatterList,
  getFrontMatterObject,
  getFrontMatterText,
  getFrontMatterWords,
} from '../lib/text/front-matter.ts';
import { splitWords } from '../lib/text/lines.ts';
import {
  type ExtensionFolder,
  type ExtensionKind,
  type ExtensionLoadResult,
  loadExtensionFiles,
} from './extension-folder.ts';
import { reportIgnoredFrontMatter } from './front-matter-fields.ts';
import { expandPluginVariables } from './plugins/plugin-variables.ts';

/** Loads the sub-agents: from the flag, then from files, then the built-in ones; the first of a name wins. */
export async function loadAgents(
  folders: readonly ExtensionFolder[],
  flag: JsonValue | undefined,
): Promise<ExtensionLoadResult<SubAgentDefinition>> {
  const fromFlag = parseFlag(flag);
  const { items, problems } = await loadExtensionFiles(folders, AGENTS, fromFlag.items);
  const names = new Set(items.map(({ name }) => name));
  return {
    items: [...items, ...BUILT_IN_AGENTS.filter(({ name }) => !names.has(name))],
    problems: [...fromFlag.problems, ...problems],
  };
}

/** Documentation files that are often published beside sub-agents. */
const DOCUMENTATION = /(?:^|:)(?:readme|changelog|contributing|license|index|claude|agents)$/i;

const AGENTS: ExtensionKind<SubAgentDefinition> = {
  label: 'sub-agents',
  broken: { text: 'The sub-agent is ignored.', use: 'nothing' },
  parse({ path, name, fields, body }, { source, prefix = '', pluginVariables: plugin }) {
    const description = getFrontMatterText(fields, 'description');
    if (description === undefined) {
      if (DOCUMENTATION.test(name)) return undefined;
      return { problem: 'has no description in its front matter. The sub-agent is ignored.' };
    }
    const parsed = parseAgentFields(prefix === '' ? fields : removeInlineServers(fields));
    const prompt = plugin === undefined ? body : expandPluginVariables(body, plugin);
    const agentName = `${prefix}${getFrontMatterText(fields, 'name') ?? name}`;
    const item = { ...parsed.kind, name: agentName, description, prompt: prompt.trim(), source, path };
    return { item, ignoredFields: parsed.unused };
  },
  describeOverride: ({ name }) => `is overridden by another sub-agent named ${name}.`,
};

/** Removes inline servers from a plugin's sub-agent: the review before enabling a plugin does not show them. */
function removeInlineServers(facts: FrontMatter['fields']): FrontMatter['fields'] {
  const { mcpServers: servers } = facts;
  return Array.isArray(servers) ? { ...facts, mcpServers: servers.filter((item) => typeof item === 'string') } : facts;
}

const flagSchema = z.record(z.string(), z.looseObject({ description: z.string(), prompt: z.string() }));

/** Parses the sub-agents of `--agents` or of a host. */
function parseFlag(flag: JsonValue | undefined): ExtensionLoadResult<SubAgentDefinition> {
  if (flag === undefined) return { items: [], problems: [] };
  const path = '--agents';
  const parsed = flagSchema.safeParse(flag);
  if (!parsed.success || !isJsonObject(flag)) {
    const issue = parsed.error?.issues[0];
    return { items: [], problems: [{ path, text: `is invalid: ${issue?.path.join('.')} ${issue?.message}` }] };
  }
  const agents = Object.entries(parsed.data).map(([name, { description, prompt, ...facts }]) => {
    const { kind, unused } = parseAgentFields(facts);
    return { kind: { ...kind, name, description, prompt, source: 'flag' as const }, unused };
  });
  const unused = new Map(agents.map(({ kind, unused: fields }) => [kind.name, fields]));
  return { items: agents.map(({ kind }) => kind), problems: reportIgnoredFrontMatter(path, 'sub-agents', unused) };
}

type Facts = FrontMatter['fields'];

const SCOPES: readonly MemoryScope[] = ['user', 'project', 'local'];

/** Parses a sub-agent's front matter, except its name and prompt; also returns the fields ouro ignores. */
function parseAgentFields(facts: Facts): {
  readonly kind: Omit<SubAgentDefinition, 'name' | 'description' | 'prompt' | 'source'>;
  readonly unused: readonly string[];
} {
  const tools = getFrontMatterWords(facts, 'tools');
  const model = getFrontMatterText(facts, 'model');
  const turns = Number(getFrontMatterText(facts, 'maxTurns') ?? Number.NaN);
  const mode = parseChoice(PERMISSION_MODES, getFrontMatterText(facts, 'permissionMode'));
  const effort = parseChoice(EFFORTS, getFrontMatterText(facts, 'effort'));
  const memory = parseChoice(SCOPES, getFrontMatterText(facts, 'memory'));
  const isolation = parseChoice(['worktree'] as const, getFrontMatterText(facts, 'isolation'));
  const skills = getFrontMatterList(facts, 'skills');
  const inlineServers = parseInlineServers(facts.mcpServers);
  const ownServers: Pick<SubAgentDefinition, 'inlineMcpServers'> =
    Object.keys(inlineServers).length === 0 ? {} : { inlineMcpServers: inlineServers };
  const servers = [...listServerNames(facts.mcpServers), ...Object.keys(inlineServers)];
  const hooks = getFrontMatterObject(facts, 'hooks');
  const color = getFrontMatterText(facts, 'color');
  const kind = {
    disallowedTools: getFrontMatterWords(facts, 'disallowedTools') ?? [],
    ...(tools === undefined || tools.includes('*') ? {} : { tools }),
    ...(model === undefined || model === 'inherit' ? {} : { model }),
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(Number.isInteger(turns) && turns > 0 ? { maxTurns: turns } : {}),
    ...omitUndefined({ effort, isolation }),
    ...(getFrontMatterBoolean(facts, 'background') === true ? { background: true as const } : {}),
    ...omitUndefined({ skills, memory }),
    ...(servers.length === 0 ? {} : { mcpServers: servers }),
    ...ownServers,
    ...omitUndefined({ hooks, color }),
  };
  return { kind, unused: listIgnoredFields(facts, kind) };
}

/** Fields that are used elsewhere or only informative. */
const EXPECTED_FIELDS = splitWords('name description prompt when_to_use version author license metadata tags');
/** Fields with values that mean the default. */
const HAS_DEFAULT_VALUE: Readonly<Record<string, (value: unknown) => boolean>> = {
  model: (value) => value === 'inherit',
  tools: () => true,
  background: (value) => value === false || value === 'false',
  mcpServers: (value) => Array.isArray(value) && value.length === 0,
};

function listIgnoredFields(facts: Facts, kind: object): readonly string[] {
  const ignored = Object.entries(facts).filter(
    ([field, value]) =>
      value !== null &&
      value !== '' &&
      !EXPECTED_FIELDS.includes(field) &&
      !Object.hasOwn(kind, field) &&
      !(Object.hasOwn(HAS_DEFAULT_VALUE, field) && HAS_DEFAULT_VALUE[field]?.(value) === true),
  );
  return ignored.map(([field, value]) => (isShort(value) ? `${field}: ${value}` : field));
}

function isShort(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value) && String(value).length <= 24;
}

/** Lists the names of servers that are configured elsewhere. */
function listServerNames(value: FrontMatter['fields'][string]): readonly string[] {
  if (typeof value === 'string') return value.split(',').map((name) => name.trim());
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** Collects the servers configured in the front matter: an object by name, or objects in a list. */
function parseInlineServers(value: FrontMatter['fields'][string]): JsonObject {
  const parts = Array.isArray(value) ? value : [value];
  return Object.fromEntries(parts.filter((part) => isJsonObject(part)).flatMap((part) => Object.entries(part)));
}

/** Returns the value when it is one of the choices. */
function parseChoice<Choice extends string>(choices: readonly Choice[], value: string | undefined): Choice | undefined {
  return choices.find((choice) => choice === value);
}

const READ_ONLY_TOOLS = ['Read', 'Glob', 'Grep', 'Bash', 'BashOutput', 'WebFetch', 'WebSearch', 'TodoWrite'];

/** The built-in sub-agents; a file of the same name replaces one. */
const BUILT_IN_AGENTS: readonly SubAgentDefinition[] = [
  {
    name: 'general-purpose',
    description: 'any piece of work that stands on its own, reading and changing files included',
    prompt: 'Your task may be any piece of work that stands on its own. Work until it is done or cannot be done.',
    source: 'builtin',
    disallowedTools: [],
  },
  {
    name: 'Explore',
    description: 'finding things out in the project, read-only: where something is, how it works, what uses it',
    prompt:
      'You find things out in this project and change nothing. Search wide first, then read what matters. Quote only the lines that carry your answer, and say what you looked for and did not find.',
    source: 'builtin',
    tools: READ_ONLY_TOOLS,
    disallowedTools: [],
    permissionMode: 'plan',
  },
  {
    name: 'Plan',
    description: 'working out how a change should be made, read-only: steps, files, risks',
    prompt:
      'You work out how a change should be made and change nothing. Read the code it touches. Give back the steps in order with the files and functions of each, what could break, how to check it, and the decision you would make where there are several ways.',
    source: 'builtin',
    tools: READ_ONLY_TOOLS,
    disallowedTools: [],
    permissionMode: 'plan',
  },
];
