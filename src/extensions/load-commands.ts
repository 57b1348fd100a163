import { dirname } from 'node:path';
import type { CustomCommand, ExtensionProblem, Loaded } from '../contracts/extension.ts';
import { markdownFiles } from '../lib/files/markdown-files.ts';
import { readFrontMatter } from '../lib/text/front-matter.ts';
import { callableFacts, descriptionOf, firstWords, unusedFacts } from './callable-facts.ts';
import type { ExtensionFolder } from './extension-folder.ts';
import { unusedLine } from './unused-line.ts';

/** Custom slash commands of all folders. Of two with one name the stronger counts, and it is told. */
export async function loadCommands(folders: readonly ExtensionFolder[]): Promise<Loaded<CustomCommand>> {
  const items = new Map<string, CustomCommand>();
  const problems: ExtensionProblem[] = [];
  for (const { folder, source, admit, prefix = '', pluginVariables } of folders) {
    const unused = new Map<string, readonly string[]>();
    const { files, leftOut } = await markdownFiles(folder, admit);
    problems.push(...leftOut);
    for (const { path, name: found, text } of files) {
      const { facts, body, problem } = await readFrontMatter(text);
      if (problem !== undefined)
        problems.push({ path, line: problem.line, text: `${problem.text}. The command works without its head.` });
      // What is typed behind a slash ends with a space.
      const name = `${prefix}${found.replaceAll(/\s+/g, '-')}`;
      const winner = items.get(name);
      if (winner !== undefined) {
        problems.push({ path, text: `is hidden by ${winner.path}, which has the same name /${name}.` });
        continue;
      }
      unused.set(path, unusedFacts(facts));
      items.set(name, {
        ...callableFacts(facts),
        name,
        path,
        source,
        description: descriptionOf(facts) ?? firstWords(body),
        body,
        folder: dirname(path),
        ...(pluginVariables === undefined ? {} : { pluginVariables }),
      });
    }
    problems.push(...unusedLine(folder, 'commands', unused));
  }
  return { items: [...items.values()], problems };
}
