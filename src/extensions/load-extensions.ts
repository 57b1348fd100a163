import { join } from 'node:path';
import type { AgentKind, CustomCommand, ExtensionProblem, OutputStyle, Plugin, Skill } from '../contracts/extension.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { ExtensionFolder } from './extension-folder.ts';
import { loadAgents } from './load-agents.ts';
import { loadCommands } from './load-commands.ts';
import { loadOutputStyles } from './load-output-styles.ts';
import { findSkill, loadSkills } from './load-skills.ts';

/** Everything that files add to ouro. */
export type Extensions = {
  readonly commands: readonly CustomCommand[];
  readonly skills: readonly Skill[];
  readonly agents: readonly AgentKind[];
  readonly styles: readonly OutputStyle[];
  readonly plugins: readonly Plugin[];
  readonly problems: readonly ExtensionProblem[];
};

/** Whether a file of the project may be read, and where its links lead. */
export type Admission = { readonly ok: true; readonly realPath: string } | { readonly ok: false; readonly why: string };

/** Reads them all, side by side. */
export async function loadExtensions(places: {
  /** The nearest first; none of a project that is not trusted. */
  readonly projectFolders: readonly string[];
  /** The person's own, where they count. */
  readonly own?: { readonly ouroHome: string; readonly home: string };
  readonly plugins?: readonly Plugin[];
  readonly agentsFlag: JsonValue | undefined;
  readonly admits: (path: string) => Admission;
}): Promise<Extensions> {
  const leftOut: ExtensionProblem[] = [];
  const admit = (path: string) => {
    const answer = places.admits(path);
    if (answer.ok) return answer.realPath;
    leftOut.push({ path, text: `is left out: ${answer.why}` });
    return undefined;
  };
  const { projectFolders, own, plugins = [] } = places;
  const folders = (name: keyof Plugin['folders']): readonly ExtensionFolder[] => [
    ...projectFolders.map((folder) => ({ folder: join(folder, '.claude', name), source: 'project' as const, admit })),
    ...(own === undefined ? [] : [{ folder: join(own.ouroHome, name), source: 'user' as const }]),
    ...plugins.flatMap(({ name: plugin, variables: pluginVariables, folders: of }) =>
      of[name].map((folder) => ({ folder, source: 'user' as const, prefix: `${plugin}:`, pluginVariables })),
    ),
  ];
  /** What programs of all makers read. */
  const shared: readonly ExtensionFolder[] = [
    ...projectFolders.map((folder) => ({ folder: join(folder, '.agents/skills'), source: 'project' as const, admit })),
    ...(own === undefined ? [] : [{ folder: join(own.home, '.agents/skills'), source: 'user' as const }]),
  ];
  const [commands, skills, agents, styles] = await Promise.all([
    loadCommands(folders('commands')),
    loadSkills([...folders('skills'), ...shared]),
    loadAgents(folders('agents'), places.agentsFlag),
    loadOutputStyles(folders('output-styles')),
  ]);
  return {
    commands: commands.items,
    skills: skills.items,
    agents: agents.items,
    styles: styles.items,
    plugins,
    problems: [
      ...leftOut,
      ...commands.problems,
      ...skills.problems,
      ...agents.problems,
      ...styles.problems,
      ...strayKnowledge(agents.items, skills.items),
    ],
  };
}

/** Skills a sub-agent is to know by heart, and that nobody has. */
function strayKnowledge(agents: readonly AgentKind[], skills: readonly Skill[]): readonly ExtensionProblem[] {
  return agents.flatMap(({ path, name, skills: wanted = [] }) => {
    const missing = wanted.filter((one) => findSkill(skills, one) === undefined);
    if (missing.length === 0) return [];
    return [
      { path: path ?? name, text: `wants skills that are not here: ${missing.join(', ')}. It works without them.` },
    ];
  });
}
