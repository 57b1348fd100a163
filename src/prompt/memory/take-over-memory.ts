import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { ifThere } from '../../lib/files/errno.ts';
import { writePrivately } from '../../lib/files/private-file.ts';
import { parseMemory } from './memory-parse.ts';
import { isInside } from './memory-read.ts';

/** What became of it, in sentences. */
export type TakenOver = { readonly taken: readonly string[]; readonly left: readonly string[] };

const NAME = 'CLAUDE.md';
/** What is text for a model. Other files, such as settings, stay where they are and are named there. */
const COPIED = ['.md', '.mdc', '.txt'];
const DEPTH = 5;

/** Copies `CLAUDE.md` and what it imports from beside it; imports from elsewhere go on leading there. */
export async function takeOverMemory(from: string, ouroHome: string): Promise<TakenOver> {
  const taken: string[] = [];
  const left: string[] = [];

  async function copy(name: string, depth: number): Promise<void> {
    const source = join(from, name);
    const own = join(ouroHome, name);
    if (taken.includes(name) || !(await isFile(source))) return;
    if ((await ifThere(stat(own))) !== undefined) {
      const words = `${name}: you have one already`;
      if (!left.includes(words)) left.push(words);
      return;
    }
    taken.push(name);
    let text = await readFile(source, 'utf8');
    const { imports } = await parseMemory(text);
    for (const wanted of imports.filter((path) => !/^[~/]/.test(path))) {
      const target = resolve(dirname(source), wanted);
      if (isInside(from, target) && COPIED.includes(extname(target))) {
        if (depth < DEPTH) await copy(relative(from, target), depth + 1);
      } else if (resolve(dirname(own), wanted) !== target && (await isFile(target))) {
        text = renamed(text, wanted, target);
      }
    }
    await mkdir(dirname(own), { recursive: true, mode: 0o700 });
    await writePrivately(own, text);
  }

  await copy(NAME, 0);
  return { taken, left };
}

async function isFile(path: string): Promise<boolean> {
  return (await ifThere(stat(path)))?.isFile() === true;
}

function renamed(text: string, wanted: string, target: string): string {
  return text
    .split(/(?<=[\s(])|^/m)
    .map((word) => {
      const rest = word.startsWith(`@${wanted}`) ? word.slice(wanted.length + 1) : undefined;
      return rest === undefined || !/^[.,;:!?'")]*\s*$/.test(rest) ? word : `@${target}${rest}`;
    })
    .join('');
}
