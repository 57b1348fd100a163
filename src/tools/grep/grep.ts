import { z } from 'zod';
import type { ToolStatement } from '../../contracts/permission.ts';
import { type Tool, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { exhaustive } from '../../lib/exhaustive.ts';
import { hasManyWildcards, MAX_WILDCARDS } from '../../lib/patterns/glob.ts';
import { formatCount } from '../../lib/text/format.ts';
import { buildTool } from '../build-tool.ts';
import { repairArguments } from '../file-arguments.ts';
import type { SearchParts } from '../glob/glob.ts';
import type { Taker } from '../search/locator.ts';
import { searchRoot } from '../search/search-root.ts';
import { searchFacts } from '../stated-facts.ts';
import { contentLines, countLines, fileLines } from './sort-records.ts';

const GREP_PROMPT = `Searches file contents with ripgrep (regular expressions; escape literal braces). Respects .gitignore and skips hidden files unless glob names them. By default it answers with the paths of matching files; output_mode "content" shows lines, "count" counts them. Use this instead of grep or rg in Bash.`;

const lineCount = z.int().min(0).max(1000).optional();
const input = z.object({
  pattern: z.string().min(1).describe('Regular expression'),
  path: z.string().optional().describe('File or directory, by default the current one'),
  glob: z.string().optional().describe('Only files like "*.js" or "src/**/*.ts"'),
  type: z.string().optional().describe('Only files of a ripgrep type: js, py, rust …'),
  output_mode: z.enum(['content', 'files_with_matches', 'count']).optional(),
  '-A': lineCount.describe('Lines after each match'),
  '-B': lineCount.describe('Lines before'),
  '-C': lineCount.describe('Lines around'),
  '-n': z.boolean().optional().describe('Line numbers, default true'),
  '-i': z.boolean().optional().describe('Ignore case'),
  head_limit: z.int().min(0).optional().describe('At most so many lines or files, default 250; 0: all'),
  offset: z.int().min(0).optional().describe('Skip so many first'),
  multiline: z.boolean().optional().describe('Let . and the pattern run over line ends'),
});

type GrepInput = z.output<typeof input>;

const DEFAULT_LIMIT = 250;

/** What it says of itself to those who decide about its calls. */
export const grepStatement: ToolStatement = {
  name: 'Grep',
  facts: searchFacts,
  mainInput: 'path',
  result: 'repeatable',
  served: 'reads',
};

/** Finds text in files. */
export function createGrepTool(parts: SearchParts): Tool {
  return buildTool({
    ...grepStatement,
    prompt: GREP_PROMPT,
    input,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    prepareArguments: (raw) =>
      repairArguments(raw, { numbers: ['-A', '-B', '-C', 'head_limit', 'offset'], flags: ['-n', '-i', 'multiline'] }),
    title: ({ pattern, path }) => `Grep ${pattern}${path === undefined ? '' : ` in ${path}`}`,
    async call(wanted, { cwd, signal }) {
      const { prefix, ...where } = await searchRoot(wanted.path, { cwd, home: parts.home });
      if (hasManyWildcards(wanted.glob ?? ''))
        throw new ToolFailure(`The glob has more than ${MAX_WILDCARDS} stars and brackets. Use a simpler one.`);
      const mode = wanted.output_mode ?? 'files_with_matches';
      const limit = wanted.head_limit === 0 ? Number.POSITIVE_INFINITY : (wanted.head_limit ?? DEFAULT_LIMIT);
      const end = (wanted.offset ?? 0) + (limit === Number.POSITIVE_INFINITY ? 0 : limit);
      const collected = createCollector(mode === 'files_with_matches' ? '\0' : '\n', end);
      await parts.locator.search(
        {
          ...where,
          excluded: parts.excluded(),
          mode,
          pattern: wanted.pattern,
          glob: wanted.glob,
          type: wanted.type,
          before: wanted['-B'] ?? wanted['-C'] ?? 0,
          after: wanted['-A'] ?? wanted['-C'] ?? 0,
          lineNumbers: wanted['-n'] === false ? 'hidden' : 'shown',
          letters: wanted['-i'] ? 'any_case' : 'exact',
          span: wanted.multiline ? 'multiline' : 'line',
        },
        collected.take,
        signal,
      );
      return report(wanted, mode, { text: collected.text(), isCut: collected.isCut(), prefix, limit });
    },
  });
}

type Found = { readonly text: string; readonly isCut: boolean; readonly prefix: string; readonly limit: number };

function report(wanted: GrepInput, mode: NonNullable<GrepInput['output_mode']>, found: Found): ToolOutcome {
  const { lines, summary } = linesOf(mode, found);
  const offset = wanted.offset ?? 0;
  const shown = lines.slice(offset, offset + found.limit);
  const total = `${found.isCut ? 'more than ' : ''}${lines.length}`;
  const notes = [
    ...(mode === 'content' ? [] : [summary]),
    ...(offset + shown.length < lines.length
      ? [`Shown: ${offset + 1} to ${offset + shown.length} of ${total}. Go on with offset ${offset + shown.length}.`]
      : []),
    ...(found.isCut ? ['The search was ended early because it found so much; narrow it.'] : []),
    ...(shown.length === 0 ? [`Nothing is left at offset ${offset}.`] : []),
  ];
  const body = notes.length === 0 ? shown.join('\n') : `${shown.join('\n')}\n\n[${notes.join(' ')}]`;
  return {
    content: lines.length === 0 ? 'No matches.' : body,
    display: { kind: 'list', summary, items: shown, total: lines.length },
    structured: {
      mode,
      numLines: shown.length,
      numTotal: lines.length,
      truncated: found.isCut || shown.length < lines.length,
      content: shown.join('\n'),
    },
  };
}

function linesOf(mode: NonNullable<GrepInput['output_mode']>, { text, prefix }: Found) {
  switch (mode) {
    case 'content': {
      const lines = contentLines(text, prefix);
      return { lines, summary: formatCount(lines.length, 'line') };
    }
    case 'files_with_matches': {
      const lines = fileLines(text, prefix);
      return { lines, summary: formatCount(lines.length, 'file') };
    }
    case 'count': {
      const { lines, sum } = countLines(text, prefix);
      const noun = sum === 1 ? 'match' : 'matches';
      return { lines, summary: `${sum} ${noun} in ${formatCount(lines.length, 'file')}` };
    }
    default:
      return exhaustive(mode);
  }
}

// Enough to sort by path and to page, little enough to hold.
const MAX_RECORDS = 20_000;
const MAX_CHARS = 8 * 1024 * 1024;

type Collected = { readonly text: () => string; readonly isCut: () => boolean; readonly take: Taker };

/** Keeps what a search says until there is more than anybody will read; then the search is ended. */
function createCollector(recordEnd: '\n' | '\0', wantedRecords: number): Collected {
  const limit = Math.max(MAX_RECORDS, wantedRecords);
  const chunks: string[] = [];
  let records = 0;
  let chars = 0;
  let isCut = false;
  return {
    text() {
      const text = chunks.join('');
      // The last record of a search that was ended may be half of one.
      return isCut ? text.slice(0, text.lastIndexOf(recordEnd) + 1) : text;
    },
    isCut: () => isCut,
    take(chunk) {
      chunks.push(chunk);
      chars += chunk.length;
      for (let at = chunk.indexOf(recordEnd); at !== -1; at = chunk.indexOf(recordEnd, at + 1)) records += 1;
      isCut = records > limit || chars > MAX_CHARS;
      return isCut ? 'enough' : 'more';
    },
  };
}
