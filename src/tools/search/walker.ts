import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ToolFailure } from '../../contracts/tool.ts';
import { decodeText } from '../../lib/files/encoding.ts';
import { exclusionGlobs, namesHidden } from './exclusions.ts';
import { typeGlob } from './file-types.ts';
import { compileGlob } from './glob-pattern.ts';
import type { Locator, TextQuery } from './locator.ts';
import { matchText } from './match-text.ts';
import { walk } from './walk.ts';

/** Searches with fast-glob, without any program: slower, but always there. */
export function createWalkerLocator(): Locator {
  return {
    name: 'walker',
    async listFiles({ root, excluded, ignored }, take, signal) {
      const never = exclusionGlobs(root, excluded);
      if (never === 'all') return;
      for await (const file of walk(
        root,
        { hidden: 'include', never, ...(ignored === undefined ? {} : { ignored }) },
        signal,
      )) {
        if (take(`${file}\n`) === 'enough') return;
      }
    },
    async search(query, take, signal) {
      const expression = compile(query);
      let isFirst = true;
      for await (const file of filesOf(query, signal)) {
        signal.throwIfAborted();
        const bytes = await readFile(path.resolve(query.root, file)).catch(() => undefined);
        const text = bytes === undefined ? undefined : decodeText(bytes)?.text;
        const records = text === undefined ? '' : matchText(file, text, expression, query);
        if (records === '') continue;
        const hasGroups = query.mode === 'content' && query.before + query.after > 0;
        const separated = hasGroups && !isFirst ? `--\n${records}` : records;
        isFirst = false;
        if (take(separated) === 'enough') return;
      }
    },
  };
}

async function* filesOf(query: TextQuery, signal: AbortSignal): AsyncGenerator<string> {
  const never = exclusionGlobs(query.root, query.excluded);
  if (never === 'all') return;
  if (query.file !== undefined) {
    yield query.file;
    return;
  }
  const type = query.type === undefined ? undefined : typeGlob(query.type);
  if (type !== undefined && 'known' in type) {
    throw new ToolFailure(`The file type "${query.type}" is unknown. Known types: ${type.known}. Or use glob.`);
  }
  const isOfType = type === undefined ? () => true : compileGlob(type.glob);
  const hidden = namesHidden(query.glob) ? 'include' : 'skip';
  for await (const file of walk(query.root, { hidden, only: query.glob, never }, signal)) {
    if (isOfType(file)) yield file;
  }
}

function compile(query: TextQuery): RegExp {
  const flags = `g${query.letters === 'any_case' ? 'i' : ''}m${query.span === 'multiline' ? 's' : ''}`;
  try {
    return new RegExp(query.pattern, flags);
  } catch (thrown) {
    throw new ToolFailure(`The search could not start: the pattern is no regular expression. ${String(thrown)}`);
  }
}
