import { dirname, join, sep } from 'node:path';
import type {
  ExtensionProblem,
  ExtensionSource,
  Plugin,
  PromptTemplate,
  Skill,
  SubAgentDefinition,
} from '../contracts/extension.ts';
import type { JsonValue } from '../contracts/json.ts';
import { type FrontMatter, getFrontMatterBoolean, getFrontMatterText } from '../lib/text/front-matter.ts';
import {
  type ExtensionFolder,
  type ExtensionKind,
  type ExtensionLoadResult,
  loadExtensionFiles,
} from './extension-folder.ts';
import {
  getDescriptionFromBody,
  listIgnoredFrontMatterFields,
  parseCommandFrontMatter,
  readFrontMatterDescription,
} from './front-matter-fields.ts';
import { loadAgents } from './load-agents.ts';
import { findSkill, loadSkills } from './load-skills.ts';

/** An output style: instructions about tone and format that are added to the system prompt. */
export type OutputStyle = {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  readonly source: ExtensionSource;
};

/** The extensions of a session, and the problems of files that could not be loaded. */
export type Extensions = {
  readonly commands: readonly PromptTemplate[];
  readonly skills: readonly Skill[];
  readonly agents: readonly SubAgentDefinition[];
  readonly styles: readonly OutputStyle[];
  readonly plugins: readonly Plugin[];
  readonly problems: readonly ExtensionProblem[];
};

/** The decision whether a project file may be read, with its real path. */
export type ProjectFileAdmission =
  | { readonly ok: true; readonly realPath: string }
  | { readonly ok: false; readonly problem: string };

/** Loads all extensions in parallel. */
export async function loadExtensions(options: {
  /** Project folders, nearest first; empty for an untrusted project. */
  readonly projectFolders: readonly string[];
  /** The user's folders; absent when user settings are excluded. */
  readonly userFolders?: { readonly ouroHome: string; readonly home: string };
  readonly plugins?: readonly Plugin[];
  readonly agentsFlag: JsonValue | undefined;
  /** Decides whether a project file may be read. */
  readonly checkFile: (path: string) => ProjectFileAdmission;
}): Promise<Extensions> {
  const excluded: ExtensionProblem[] = [];
  const admit = (path: string) => {
    const admission = options.checkFile(path);
    if (admission.ok) return admission.realPath;
    excluded.push({ path, text: `is ignored: ${admission.problem}` });
    return undefined;
  };
  const { projectFolders, userFolders, plugins = [] } = options;
  const listFolders = (name: keyof Plugin['folders']): readonly ExtensionFolder[] => [
    ...projectFolders.map((folder) => ({ folder: join(folder, '.claude', name), source: 'project' as const, admit })),
    ...(userFolders === undefined ? [] : [{ folder: join(userFolders.ouroHome, name), source: 'user' as const }]),
    ...plugins.flatMap(({ name: plugin, variables: pluginVariables, folders, only }) => {
      const taken = only?.[name];
      const isTaken = (path: string) => taken?.some((one) => path === one || path.startsWith(`${one}${sep}`)) === true;
      const limit = taken === undefined ? {} : { admit: (path: string) => (isTaken(path) ? path : undefined) };
      return folders[name].map((folder) => ({
        ...{ folder, source: 'user' as const, prefix: `${plugin}:`, pluginVariables },
        ...limit,
      }));
    }),
  ];
  /** Skill folders shared with other assistants. */
  const sharedFolders: readonly ExtensionFolder[] = [
    ...projectFolders.map((folder) => ({ folder: join(folder, '.agents/skills'), source: 'project' as const, admit })),
    ...(userFolders === undefined
      ? []
      : [{ folder: join(userFolders.home, '.agents/skills'), source: 'user' as const }]),
  ];
  const [commands, skills, agents, styles] = await Promise.all([
    loadCommands(listFolders('commands')),
    loadSkills([...listFolders('skills'), ...sharedFolders]),
    loadAgents(listFolders('agents'), options.agentsFlag),
    loadOutputStyles(listFolders('output-styles')),
  ]);
  return {
    commands: commands.items,
    skills: skills.items,
    agents: agents.items,
    styles: styles.items,
    plugins,
    problems: [
      ...excluded,
      ...commands.problems,
      ...skills.problems,
      ...agents.problems,
      ...styles.problems,
      ...reportUnknownSkills(agents.items, skills.items),
    ],
  };
}

/** Reports the skills that sub-agents name but that do not exist. */
function reportUnknownSkills(
  agents: readonly SubAgentDefinition[],
  skills: readonly Skill[],
): readonly ExtensionProblem[] {
  return agents.flatMap(({ path, name, skills: skillNames = [] }) => {
    const missing = skillNames.filter((skillName) => findSkill(skills, skillName) === undefined);
    if (missing.length === 0) return [];
    return [
      { path: path ?? name, text: `names skills that do not exist: ${missing.join(', ')}. It runs without them.` },
    ];
  });
}

/** Loads the custom slash commands of all folders. @internal */
export function loadCommands(folders: readonly ExtensionFolder[]): Promise<ExtensionLoadResult<PromptTemplate>> {
  return loadExtensionFiles(folders, COMMANDS);
}

const COMMANDS: ExtensionKind<PromptTemplate> = {
  label: 'commands',
  broken: { text: 'The command is loaded without its front matter.', use: 'the body' },
  parse({ path, name, fields, body }, { source, prefix = '', pluginVariables }) {
    const item = {
      ...parseCommandFrontMatter(fields),
      // A typed command name ends at the first space.
      name: `${prefix}${name.replaceAll(/\s+/g, '-')}`,
      path,
      source,
      description: readFrontMatterDescription(fields) ?? getDescriptionFromBody(body),
      body,
      folder: dirname(path),
      ...(pluginVariables === undefined ? {} : { pluginVariables }),
    };
    return { item, ignoredFields: listIgnoredFrontMatterFields(fields) };
  },
  describeOverride: ({ name }, { path }) => `is overridden by ${path}, which has the same name /${name}.`,
};

const BUILT_IN: readonly OutputStyle[] = [
  { name: 'default', description: 'brief and plain', text: '', source: 'builtin' },
  {
    name: 'explanatory',
    description: 'explains why, for learning the code',
    text: 'Explain as you go: before a change say in two or three sentences why it is made this way and what else was possible; afterwards point out one thing about this code base worth remembering.',
    source: 'builtin',
  },
];

/** Loads the output styles: files of the project and the user before the built-in ones. @internal */
export async function loadOutputStyles(folders: readonly ExtensionFolder[]): Promise<ExtensionLoadResult<OutputStyle>> {
  const { items, problems } = await loadExtensionFiles(folders, STYLES);
  const names = new Set(items.map(({ name }) => name));
  return { items: [...items, ...BUILT_IN.filter(({ name }) => !names.has(name))], problems };
}

const STYLES: ExtensionKind<OutputStyle> = {
  label: 'output styles',
  broken: { text: 'The style is loaded without its front matter.', use: 'the body' },
  parse({ name, fields, body }, { source }) {
    const item = {
      name: getFrontMatterText(fields, 'name') ?? name,
      description: getFrontMatterText(fields, 'description') ?? '',
      text: body.trim(),
      source,
    };
    return { item, ignoredFields: listIgnoredFields(fields) };
  },
};

/** Lists the ignored fields; `keep-coding-instructions: true` is not one, because every style keeps them. */
function listIgnoredFields(facts: FrontMatter['fields']): readonly string[] {
  const known = [
    'name',
    'description',
    ...(getFrontMatterBoolean(facts, KEEP_INSTRUCTIONS) === true ? [KEEP_INSTRUCTIONS] : []),
  ];
  return Object.keys(facts).filter((field) => !known.includes(field));
}

const KEEP_INSTRUCTIONS = 'keep-coding-instructions';
