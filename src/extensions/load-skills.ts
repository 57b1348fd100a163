import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Skill } from '../contracts/extension.ts';
import {
  admitEveryPath,
  describeSkippedFile,
  type MarkdownFile,
  type MarkdownFolder,
} from '../lib/files/markdown-files.ts';
import { readRegularFile } from '../lib/files/read-regular-file.ts';
import { getFrontMatterText } from '../lib/text/front-matter.ts';
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
  readPathGlobs,
} from './front-matter-fields.ts';

/** Larger files exceed what a model can read at once. */
const MAX_BYTES = 1_000_000;

/** Loads the skills of all folders (`<folder>/<name>/SKILL.md`); the first of a name wins. */
export function loadSkills(folders: readonly ExtensionFolder[]): Promise<ExtensionLoadResult<Skill>> {
  return loadExtensionFiles(folders, SKILLS);
}

const SKILLS: ExtensionKind<Skill> = {
  label: 'skills',
  broken: { text: 'The skill is ignored.', use: 'nothing' },
  getListedPath: dirname,
  listFiles: readSkillFiles,
  parse({ path, fields, body }, { source, prefix = '', pluginVariables }) {
    const folder = join(path, '..');
    const description = readFrontMatterDescription(fields) ?? getDescriptionFromBody(body);
    if (description === '')
      return {
        problem: 'has neither a description nor a body, so the model cannot know when to use it. It is ignored.',
      };
    const skillName = getFrontMatterText(fields, 'name')?.trim() || basename(folder);
    const item = {
      ...parseCommandFrontMatter(fields),
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
    return { item, ignoredFields: listIgnoredFrontMatterFields(fields) };
  },
  describeOverride: (_, { path }) => `is overridden by ${path}, which has the same name.`,
};

/** Reads the file of each skill in a folder; those that may not be read are left out. */
async function readSkillFiles({ folder, admit = admitEveryPath }: ExtensionFolder): Promise<MarkdownFolder> {
  const files: MarkdownFile[] = [];
  const skipped: { readonly path: string; readonly text: string }[] = [];
  for (const path of await listSkillFiles(folder)) {
    const realPath = admit(path);
    if (realPath === undefined) continue;
    try {
      const text = await readRegularFile(realPath, MAX_BYTES);
      if (text !== undefined) files.push({ path, name: basename(join(path, '..')), text });
    } catch (thrown) {
      skipped.push({ path, text: describeSkippedFile(thrown) });
    }
  }
  return { files, skipped };
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
