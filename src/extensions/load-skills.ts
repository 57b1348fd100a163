import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExtensionProblem, Loaded, Skill } from '../contracts/extension.ts';
import { asItIs } from '../lib/files/markdown-files.ts';
import { readRegular } from '../lib/files/read-regular.ts';
import { listFact, readFrontMatter, textFact } from '../lib/text/front-matter.ts';
import type { ExtensionFolder } from './extension-folder.ts';

/** Skills of all folders (`<folder>/<name>/SKILL.md`), the strongest first. */
export async function loadSkills(folders: readonly ExtensionFolder[]): Promise<Loaded<Skill>> {
  const items = new Map<string, Skill>();
  const problems: ExtensionProblem[] = [];
  for (const { folder, source, admit = asItIs } of folders) {
    for (const name of await foldersIn(folder)) {
      const path = join(folder, name, 'SKILL.md');
      const at = admit(path);
      const text = at === undefined ? undefined : await readRegular(at).catch(() => undefined);
      if (text === undefined) continue;
      const { facts, body, problem } = await readFrontMatter(text);
      if (problem !== undefined)
        problems.push({ path, line: problem.line, text: `${problem.text}. The skill is not offered.` });
      const description = textFact(facts, 'description');
      if (problem !== undefined) continue;
      if (description === undefined) {
        problems.push({
          path,
          line: 1,
          text: 'has no description in its head, so nobody could know when to use it. It is not offered.',
        });
        continue;
      }
      const called = textFact(facts, 'name') ?? name;
      const winner = items.get(called);
      if (winner !== undefined) {
        problems.push({ path, text: `is hidden by ${winner.path}, which has the same name.` });
        continue;
      }
      items.set(called, {
        name: called,
        description,
        folder: join(folder, name),
        path,
        source,
        body,
        allowedTools: listFact(facts, 'allowed-tools') ?? [],
        paths: listFact(facts, 'paths') ?? [],
      });
    }
  }
  return { items: [...items.values()], problems };
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map((entry) => entry.name)
    .toSorted();
}
