import { join } from 'node:path';
import type {
  AgentKind,
  CustomCommand,
  ExtensionProblem,
  ExtensionSource,
  OutputStyle,
  Skill,
} from '../contracts/extension.ts';
import type { JsonValue } from '../contracts/json.ts';
import { loadAgents } from './load-agents.ts';
import { loadCommands } from './load-commands.ts';
import { loadOutputStyles } from './load-output-styles.ts';
import { loadSkills } from './load-skills.ts';

/** Everything that files add to ouro. */
export type Extensions = {
  readonly commands: readonly CustomCommand[];
  readonly skills: readonly Skill[];
  readonly agents: readonly AgentKind[];
  readonly styles: readonly OutputStyle[];
  readonly problems: readonly ExtensionProblem[];
};

/** Reads them all, side by side. A folder that is not trusted brings nothing of its own. */
export async function loadExtensions(places: {
  readonly cwd: string;
  readonly ouroHome: string;
  readonly trusted: boolean;
  readonly agentsFlag: JsonValue | undefined;
}): Promise<Extensions> {
  const folders = (name: string): readonly { readonly folder: string; readonly source: ExtensionSource }[] => [
    ...(places.trusted ? [{ folder: join(places.cwd, '.claude', name), source: 'project' as const }] : []),
    { folder: join(places.ouroHome, name), source: 'user' },
  ];
  const [commands, skills, agents, styles] = await Promise.all([
    loadCommands(folders('commands')),
    loadSkills(folders('skills')),
    loadAgents(folders('agents'), places.agentsFlag),
    loadOutputStyles(folders('output-styles')),
  ]);
  return {
    commands: commands.items,
    skills: skills.items,
    agents: agents.items,
    styles: styles.items,
    problems: [...commands.problems, ...skills.problems, ...agents.problems, ...styles.problems],
  };
}
