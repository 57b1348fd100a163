import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ExtensionProblem, Loaded, Skill } from '../contracts/extension.ts';
import { asItIs, leftOutWords } from '../lib/files/markdown-files.ts';
import { readRegular } from '../lib/files/read-regular.ts';
import { readFrontMatter, textFact } from '../lib/text/front-matter.ts';
import { callableFacts, descriptionOf, firstWords, pathsOf, unusedFacts } from './callable-facts.ts';
import type { ExtensionFolder } from './extension-folder.ts';
import { unusedLine } from './unused-line.ts';

/** More than a model could read at once. */
const MOST_BYTES = 1_000_000;

/** Skills of all folders (`<folder>/<name>/SKILL.md`), the strongest first. */
export async function loadSkills(folders: readonly ExtensionFolder[]): Promise<Loaded<Skill>> {
  const items = new Map<string, Skill>();
  const problems: ExtensionProblem[] = [];
  for (const folder of folders) {
    const unused = new Map<string, readonly string[]>();
    for (const path of await skillFiles(folder.folder)) {
      const read = await readSkill(path, folder);
      if (read === undefined) continue;
      if ('text' in read) {
        problems.push(read);
        continue;
      }
      const { skill } = read;
      const winner = items.get(skill.name);
      if (winner === undefined) {
        items.set(skill.name, skill);
        unused.set(basename(skill.folder), read.unused);
      } else if (winner.path !== skill.path)
        problems.push({ path: skill.path, text: `is hidden by ${winner.path}, which has the same name.` });
    }
    problems.push(...unusedLine(folder.folder, 'skills', unused));
  }
  return { items: [...items.values()], problems };
}

/** A skill with what its head says in vain, or the sentence why it is none. */
async function readSkill(
  path: string,
  { source, admit = asItIs, prefix = '', pluginVariables }: ExtensionFolder,
): Promise<{ readonly skill: Skill; readonly unused: readonly string[] } | ExtensionProblem | undefined> {
  const at = admit(path);
  if (at === undefined) return undefined;
  const text = await readRegular(at, MOST_BYTES).catch((thrown) => ({ path, text: leftOutWords(thrown) }));
  if (typeof text !== 'string') return text;
  const { facts, body, problem } = await readFrontMatter(text);
  if (problem !== undefined) return { path, line: problem.line, text: `${problem.text}. The skill is not offered.` };
  const folder = join(path, '..');
  const callable = callableFacts(facts);
  const described = descriptionOf(facts) ?? firstWords(body);
  if (described === '') {
    const why = 'has neither a description nor a text, so nobody could know when to use it. It is not offered.';
    return { path, line: 1, text: why };
  }
  const own = textFact(facts, 'name')?.trim() || basename(folder);
  const skill: Skill = {
    ...callable,
    name: `${prefix}${own}`,
    slashName: `${prefix}${/\s/.test(own) ? basename(folder).replaceAll(/\s+/g, '-') : own}`,
    description: described,
    folder,
    path,
    source,
    body,
    paths: pathsOf(facts),
    ...(pluginVariables === undefined ? {} : { pluginVariables }),
  };
  return { skill, unused: unusedFacts(facts) };
}

async function skillFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => join(folder, entry.name, 'SKILL.md'))
    .toSorted();
}

/** The skill somebody means: by its name, by its folder, with or without capitals, and a plugin's without its prefix. */
export function findSkill(skills: readonly Skill[], wanted: string): Skill | undefined {
  const plain = (name: string) =>
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_]+/g, '-');
  const meant = plain(wanted.replace(/^\//, ''));
  const names = ({ name, slashName, folder }: Skill) => [name, slashName, basename(folder)].map(plain);
  const bare = ({ name }: Skill) => plain(name.slice(name.indexOf(':') + 1));
  return (
    skills.find(({ name }) => name === wanted) ??
    skills.find((skill) => names(skill).includes(meant)) ??
    only(skills.filter((skill) => bare(skill) === meant))
  );
}

function only<Item>(items: readonly Item[]): Item | undefined {
  return items.length === 1 ? items[0] : undefined;
}
