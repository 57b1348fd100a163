import type { ExtensionProblem, Loaded, OutputStyle } from '../contracts/extension.ts';
import { markdownFiles } from '../lib/files/markdown-files.ts';
import { readFrontMatter, textFact } from '../lib/text/front-matter.ts';
import type { ExtensionFolder } from './extension-folder.ts';

const BUILT_IN: readonly OutputStyle[] = [
  { name: 'default', description: 'brief and plain', text: '', source: 'builtin' },
  {
    name: 'explanatory',
    description: 'says why, for people who want to learn the code',
    text: 'Explain as you go: before a change say in two or three sentences why it is made this way and what else was possible; afterwards point out one thing about this code base worth remembering.',
    source: 'builtin',
  },
];

/** How answers may read: files of the project and the user before the built-in ones. */
export async function loadOutputStyles(folders: readonly ExtensionFolder[]): Promise<Loaded<OutputStyle>> {
  const items = new Map<string, OutputStyle>();
  const problems: ExtensionProblem[] = [];
  for (const { folder, source, admit } of folders) {
    for (const { path, name, text } of await markdownFiles(folder, admit)) {
      const { facts, body, problem } = await readFrontMatter(text);
      if (problem !== undefined)
        problems.push({ path, line: problem.line, text: `${problem.text}. The style works without its head.` });
      const called = textFact(facts, 'name') ?? name;
      if (!items.has(called))
        items.set(called, {
          name: called,
          description: textFact(facts, 'description') ?? '',
          text: body.trim(),
          source,
        });
    }
  }
  for (const style of BUILT_IN) if (!items.has(style.name)) items.set(style.name, style);
  return { items: [...items.values()], problems };
}
