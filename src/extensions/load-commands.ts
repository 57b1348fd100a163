import type { CustomCommand, ExtensionProblem, Loaded } from '../contracts/extension.ts';
import { markdownFiles } from '../lib/files/markdown-files.ts';
import { listFact, readFrontMatter, textFact } from '../lib/text/front-matter.ts';
import type { ExtensionFolder } from './extension-folder.ts';

/** Custom slash commands of all folders. Of two with one name the stronger counts, and it is told. */
export async function loadCommands(folders: readonly ExtensionFolder[]): Promise<Loaded<CustomCommand>> {
  const items = new Map<string, CustomCommand>();
  const problems: ExtensionProblem[] = [];
  for (const { folder, source, admit } of folders) {
    for (const { path, name, text } of await markdownFiles(folder, admit)) {
      const { facts, body, problem } = await readFrontMatter(text);
      if (problem !== undefined)
        problems.push({ path, line: problem.line, text: `${problem.text}. The command works without its head.` });
      const winner = items.get(name);
      if (winner !== undefined) {
        problems.push({ path, text: `is hidden by ${winner.path}, which has the same name /${name}.` });
        continue;
      }
      const hint = textFact(facts, 'argument-hint');
      const model = textFact(facts, 'model');
      items.set(name, {
        name,
        path,
        source,
        description: textFact(facts, 'description') ?? firstWords(body),
        allowedTools: listFact(facts, 'allowed-tools') ?? [],
        body,
        ...(hint === undefined ? {} : { argumentHint: hint }),
        ...(model === undefined ? {} : { model }),
      });
    }
  }
  return { items: [...items.values()], problems };
}

function firstWords(body: string): string {
  const line = body.split('\n').find((candidate) => candidate.trim() !== '') ?? '';
  return line.replace(/^#+\s*/, '').slice(0, 80);
}
