import { join } from 'node:path';
import type { AgentKind, CustomCommand, ExtensionProblem, OutputStyle, Skill } from '../contracts/extension.ts';
import type { JsonValue } from '../contracts/json.ts';
import type { ExtensionFolder } from './extension-folder.ts';
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

/** Whether a file of the project may be read, and where its links lead. */
export type Admission = { readonly ok: true; readonly realPath: string } | { readonly ok: false; readonly why: string };

/** Reads them all, side by side. A folder that is not trusted brings nothing of its own. */
export async function loadExtensions(places: {
  readonly cwd: string;
  /** Absent: the project's alone. */
  readonly ouroHome?: string;
  readonly trusted: boolean;
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
  const { trusted, cwd, ouroHome } = places;
  const folders = (name: string): readonly ExtensionFolder[] => [
    ...(trusted ? [{ folder: join(cwd, '.claude', name), source: 'project' as const, admit }] : []),
    ...(ouroHome === undefined ? [] : [{ folder: join(ouroHome, name), source: 'user' as const }]),
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
    problems: [...leftOut, ...commands.problems, ...skills.problems, ...agents.problems, ...styles.problems],
  };
}
