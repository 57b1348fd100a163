import type { ExtensionProblem, Loaded, OutputStyle } from '../contracts/extension.ts';
import { markdownFiles } from '../lib/files/markdown-files.ts';
import { type FrontMatter, flagFact, readFrontMatter, textFact } from '../lib/text/front-matter.ts';
import type { ExtensionFolder } from './extension-folder.ts';
import { unusedLine } from './unused-line.ts';

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
    const { files, leftOut } = await markdownFiles(folder, admit);
    const unused = new Map<string, readonly string[]>();
    problems.push(...leftOut);
    for (const { path, name, text } of files) {
      const { facts, body, problem } = await readFrontMatter(text);
      if (problem !== undefined)
        problems.push({ path, line: problem.line, text: `${problem.text}. The style works without its head.` });
      const called = textFact(facts, 'name') ?? name;
      unused.set(path, unusedFields(facts));
      if (!items.has(called))
        items.set(called, {
          name: called,
          description: textFact(facts, 'description') ?? '',
          text: body.trim(),
          source,
        });
    }
    problems.push(...unusedLine(folder, 'output styles', unused));
  }
  for (const style of BUILT_IN) if (!items.has(style.name)) items.set(style.name, style);
  return { items: [...items.values()], problems };
}

/** The rest of what the model is told is kept with every style, so asking for that changes nothing and asks for nothing else. */
function unusedFields(facts: FrontMatter['facts']): readonly string[] {
  const known = ['name', 'description', ...(flagFact(facts, KEEPS) === true ? [KEEPS] : [])];
  return Object.keys(facts).filter((field) => !known.includes(field));
}

const KEEPS = 'keep-coding-instructions';
