import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ExtensionProblem, Skill } from '../contracts/extension.ts';
import { admitEveryPath, describeSkippedFile } from '../lib/files/markdown-files.ts';
import { readRegularFile } from '../lib/files/read-regular-file.ts';
import { getFrontMatterText, parseFrontMatter } from '../lib/text/front-matter.ts';
import type { ExtensionFolder, ExtensionLoadResult } from './extension-folder.ts';
import {
  getDescriptionFromBody,
  listIgnoredFrontMatterFields,
  parseCommandFrontMatter,
  readFrontMatterDescription,
  readPathGlobs,
  reportIgnoredFrontMatter,
} from './front-matter-fields.ts';

/** Larger files exceed what a model can read at once. */
const MAX_BYTES = 1_000_000;

/** Loads the skills of all folders (`<folder>/<name>/SKILL.md`); the first of a name wins. */
export async function loadSkills(folders: readonly ExtensionFolder[]): Promise<ExtensionLoadResult<Skill>> {
  const items = new Map<string, Skill>();
  const problems: ExtensionProblem[] = [];
  for (const folder of folders) {
    const unused = new Map<string, readonly string[]>();
    for (const path of await listSkillFiles(folder.folder)) {
      const result = await readSkill(path, folder);
      if (result === undefined) continue;
      if ('text' in result) {
        problems.push(result);
        continue;
      }
      const { skill } = result;
      const winner = items.get(skill.name);
      if (winner === undefined) {
        items.set(skill.name, skill);
        unused.set(basename(skill.folder), result.unused);
      } else if (winner.path !== skill.path)
        problems.push({ path: skill.path, text: `is overridden by ${winner.path}, which has the same name.` });
    }
    problems.push(...reportIgnoredFrontMatter(folder.folder, 'skills', unused));
  }
  return { items: [...items.values()], problems };
}

/** Reads a skill and its ignored fields, or returns why it cannot be used; `undefined` when it may not be read. */
async function readSkill(
  path: string,
  { source, admit = admitEveryPath, prefix = '', pluginVariables }: ExtensionFolder,
): Promise<{ readonly skill: Skill; readonly unused: readonly string[] } | ExtensionProblem | undefined> {
  const realPath = admit(path);
  if (realPath === undefined) return undefined;
  const text = await readRegularFile(realPath, MAX_BYTES).catch((thrown) => ({
    path,
    text: describeSkippedFile(thrown),
  }));
  if (typeof text !== 'string') return text;
  const { fields, body, problem } = await parseFrontMatter(text);
  if (problem !== undefined) return { path, line: problem.line, text: `${problem.text}. The skill is ignored.` };
  const folder = join(path, '..');
  const callable = parseCommandFrontMatter(fields);
  const description = readFrontMatterDescription(fields) ?? getDescriptionFromBody(body);
  if (description === '') {
    const reason = 'has neither a description nor a body, so the model cannot know when to use it. It is ignored.';
    return { path, line: 1, text: reason };
  }
  const skillName = getFrontMatterText(fields, 'name')?.trim() || basename(folder);
  const skill: Skill = {
    ...callable,
    name: `${prefix}${skillName}`,
    slashName: `${prefix}${/\s/.test(skillName) ? basename(folder).replaceAll(/\s+/g, '-') : skillName}`,
    description,
    folder,
    path,
    source,
    body,
    paths: readPathGlobs(fields),
    ...(pluginVariables === undefined ? {} : { pluginVariables }),
  };
  return { skill, unused: listIgnoredFrontMatterFields(fields) };
}

async function listSkillFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => join(folder, entry.name, 'SKILL.md'))
    .toSorted();
}

/** Finds a skill by name or folder, ignoring case; a plugin's prefix may be omitted when that is unambiguous. */
export function findSkill(skills: readonly Skill[], query: string): Skill | undefined {
  const normalize = (name: string) =>
    name
      .trim()
      .toLowerCase()
      .replaceAll(/[\s_]+/g, '-');
  const normalized = normalize(query.replace(/^\//, ''));
  const listNames = ({ name, slashName, folder }: Skill) => [name, slashName, basename(folder)].map(normalize);
  const removePrefix = ({ name }: Skill) => normalize(name.slice(name.indexOf(':') + 1));
  return (
    skills.find(({ name }) => name === query) ??
    skills.find((skill) => listNames(skill).includes(normalized)) ??
    getOnly(skills.filter((skill) => removePrefix(skill) === normalized))
  );
}

/** Returns the item of a list with exactly one. */
function getOnly<Item>(items: readonly Item[]): Item | undefined {
  return items.length === 1 ? items[0] : undefined;
}

/** Filters skills by a host's list of names, with or without a plugin's prefix; without a list all are kept. */
export function filterSkills(skills: readonly Skill[], names: readonly string[] | undefined): readonly Skill[] {
  if (names === undefined) return skills;
  return skills.filter(({ name }) => names.some((wanted) => name === wanted || name.endsWith(`:${wanted}`)));
}
