import path from 'node:path';
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../contracts/json.ts';
import { type Tool, ToolFailure, type ToolOutcome } from '../contracts/tool.ts';
import { exhaustive } from '../lib/errors.ts';
import { omitUndefined } from '../lib/json.ts';
import { hasTooManyWildcards, MAX_WILDCARDS } from '../lib/patterns/glob.ts';
import { formatCount } from '../lib/text/format.ts';
import { buildTool } from './definition/build-tool.ts';
import {
  type BuiltInToolTraits,
  defineToolTraits,
  FOLDER_PATH_SYNONYMS,
  joinGlobAlternatives,
} from './input/call-forms.ts';
import type { ForeignArgumentConverter } from './input/normalize-arguments.ts';
import {
  createSearchCollector,
  describeExcludedMounts,
  InvalidPattern,
  parseSortedFileList,
  resolveSearchRoot,
  type SearchDeps,
  sortMatchCounts,
  sortMatchLines,
  type TextQuery,
} from './search/search-backend.ts';

import { getSearchPermissionFacts } from './tool-facts.ts';

const GREP_PROMPT = `Searches file contents with ripgrep. Respects .gitignore; hidden files only if glob names them. Answers with the paths of matching files, for one file with its lines; output_mode "content" shows lines, "count" counts matches. Use this instead of grep or rg in Bash.`;

const lineCount = z.int().min(0).optional();
const input = z.strictObject({
  pattern: z.string().min(1).describe('Regular expression'),
  path: z.string().optional().describe('File or directory'),
  glob: z.string().optional().describe('Only such files: "src/**/*.ts"'),
  type: z.string().optional().describe('js, py, rust …'),
  output_mode: z.enum(['content', 'files_with_matches', 'count']).optional(),
  '-A': lineCount,
  '-B': lineCount,
  '-C': lineCount,
  '-n': z.boolean().optional().describe('Default true'),
  '-i': z.boolean().optional(),
  head_limit: z.int().min(0).optional().describe('Lines or files, default 250; 0: all'),
  offset: z.int().min(0).optional().describe('Skip so many'),
  multiline: z.boolean().optional().describe('. matches line ends'),
});

type GrepInput = z.output<typeof input>;

const DEFAULT_LIMIT = 250;

/** The traits of the Grep tool. */
export const grepTraits: BuiltInToolTraits = defineToolTraits({
  name: 'Grep',
  facts: getSearchPermissionFacts,
  mainInput: 'path',
  result: 'repeatable',
  served: 'reads',
  forms: {
    example: 'Grep{pattern:"fn \\w+", path:"src", output_mode:"content"}',
    names: [
      ...['grep_search', 'grep_files', 'search', 'search_files', 'search_file_content', 'search_text', 'search_code'],
      ...['search_content', 'content_search', 'text_search', 'ripgrep', 'rg', 'find_in_files', 'search_for_pattern'],
    ],
    synonyms: {
      pattern: ['query', 'regex', 'search', 'search_pattern', 'search_term', 'search_string', 'text'],
      path: [...FOLDER_PATH_SYNONYMS, 'file_path', 'file', 'relative_path', 'paths'],
      glob: ['include', 'include_pattern', 'includes', 'file_pattern', 'glob_pattern', 'file_glob'],
      type: ['file_type', 'language'],
      output_mode: ['mode', 'output'],
      '-A': ['after', 'after_context', 'lines_after', 'context_after'],
      '-B': ['before', 'before_context', 'lines_before', 'context_before'],
      '-C': ['context', 'context_lines', 'num_context_lines', 'lines_of_context'],
      '-n': ['n', 'line_numbers', 'line_number', 'show_line_numbers', 'with_line_numbers'],
      '-i': ['i', 'ignore_case', 'case_insensitive', 'insensitive'],
      head_limit: ['limit', 'max_results', 'max_count', 'max_matches', 'num_results', 'result_limit', '-m'],
      offset: ['skip'],
      multiline: ['-U'],
      case_sensitive: ['match_case'],
      literal: ['fixed_strings', 'fixed_string', '-F', 'is_literal'],
      is_regexp: ['use_regex', 'regexp'],
      exclude: ['exclude_pattern', 'excludes', 'exclude_glob'],
      files_with_matches: ['-l', 'files_only', 'names_only'],
      count: ['-c', 'count_only'],
      word: ['-w', 'word_regexp', 'whole_word', 'match_whole_word'],
    },
    conversions: {
      case_sensitive: (value) => ({ set: { '-i': !isTrue(value) } }),
      literal: (value, { pattern }) => ({ set: isTrue(value) ? { pattern: escapePattern(pattern) } : {} }),
      is_regexp: (value, { pattern }) => ({ set: isTrue(value) ? {} : { pattern: escapePattern(pattern) } }),
      word: (value, { pattern }) => ({ set: isTrue(value) ? { pattern: `\\b(?:${String(pattern)})\\b` } : {} }),
      files_with_matches: (value) => ({ set: { output_mode: isTrue(value) ? 'files_with_matches' : 'content' } }),
      count: (value) => ({ set: isTrue(value) ? { output_mode: 'count' } : {} }),
      glob: (value) => ({ set: { glob: Array.isArray(value) ? joinGlobAlternatives(value) : value } }),
      exclude: convertExclusion,
      path: convertPaths,
    },
    ignored: ['explanation', 'recursive', '-r', '-R', '-E', '-H', 'respect_git_ignore'],
  },
});

const isTrue = (value: JsonValue) => value === true || value === 'true' || value === 1;

/** Escapes a text so that the pattern matches it literally. */
function escapePattern(text: JsonValue | undefined): string {
  return String(text ?? '').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function convertExclusion(value: JsonValue, { glob }: JsonObject): ReturnType<ForeignArgumentConverter> {
  if (glob !== undefined)
    return {
      problem: 'Grep takes one glob: files to search ("*.ts"), or files to leave out ("!*.test.ts"). Give one of them.',
    };
  return { set: { glob: `!${Array.isArray(value) ? joinGlobAlternatives(value) : String(value)}` } };
}

function convertPaths(value: JsonValue): ReturnType<ForeignArgumentConverter> {
  if (!Array.isArray(value)) return { set: { path: value } };
  if (value.length === 1) return { set: { path: value[0] } };
  return {
    problem:
      'Grep searches one path. Give the folder above all of them as path and select files with glob, or make a call for each.',
  };
}

/** Creates the Grep tool, which finds text in files. */
export function createGrepTool(deps: SearchDeps): Tool {
  return buildTool({
    ...grepTraits,
    prompt: GREP_PROMPT,
    input,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ pattern, path: place }) => `Grep ${pattern}${place === undefined ? '' : ` in ${place}`}`,
    async call(query, { callId, cwd, signal }) {
      const { prefix, ...location } = await resolveSearchRoot(query.path, { cwd, home: deps.home });
      if (hasTooManyWildcards(query.glob ?? ''))
        throw new ToolFailure(`The glob has more than ${MAX_WILDCARDS} stars and brackets. Use a simpler one.`);
      // The name of the only file that is searched says nothing.
      const mode = query.output_mode ?? (location.file === undefined ? 'files_with_matches' : 'content');
      const limit = query.head_limit === 0 ? Number.POSITIVE_INFINITY : (query.head_limit ?? DEFAULT_LIMIT);
      const end = (query.offset ?? 0) + (limit === Number.POSITIVE_INFINITY ? 0 : limit);
      const createSearch = (pattern: string) =>
        createTextQuery({ ...query, pattern }, mode, { ...location, excluded: deps.excluded() });
      let note = '';
      let collected = createSearchCollector(mode === 'files_with_matches' ? '\0' : '\n', end);
      try {
        await deps.locator.search(createSearch(query.pattern), collected.take, signal);
      } catch (thrown) {
        if (!(thrown instanceof InvalidPattern)) throw thrown;
        note = 'The pattern is not a valid regular expression, so it was searched as plain text.';
        collected = createSearchCollector(mode === 'files_with_matches' ? '\0' : '\n', end);
        await deps.locator.search(createSearch(escapePattern(query.pattern)), collected.take, signal);
      }
      const found = {
        text: collected.text(),
        isCut: collected.isCut(),
        prefix,
        limit,
        note: [note, describeExcludedMounts(location.root, deps.listHungMounts?.())].join(' ').trim(),
        isOneFile: location.file !== undefined,
      };
      if (mode === 'content') await deps.onShown?.(listShownFiles(found.text, location.root), callId);
      return buildOutcome(query, mode, found);
    },
  });
}

/** Creates the query for a backend. A pattern that names a line end matches over line ends. */
function createTextQuery(
  query: GrepInput,
  mode: TextQuery['mode'],
  scope: Pick<TextQuery, 'root' | 'file' | 'excluded'>,
): TextQuery {
  return {
    ...scope,
    mode,
    pattern: query.pattern,
    ...omitUndefined({ glob: query.glob, type: query.type }),
    before: query['-B'] ?? query['-C'] ?? 0,
    after: query['-A'] ?? query['-C'] ?? 0,
    lineNumbers: query['-n'] === false ? 'hidden' : 'shown',
    letters: query['-i'] ? 'any_case' : 'exact',
    span: query.multiline || /\n|(?<!\\)(?:\\\\)*\\n/.test(query.pattern) ? 'multiline' : 'line',
  };
}

/** Number of files whose lines count as read; more are an overview. */
const MAX_SHOWN_FILES = 20;

function listShownFiles(text: string, root: string): readonly string[] {
  const names = text
    .split('\n')
    .flatMap((record) => (record.includes('\0') ? [record.slice(0, record.indexOf('\0'))] : []));
  const files = [...new Set(names)].map((name) => path.join(root, name));
  return files.length > MAX_SHOWN_FILES ? [] : files;
}

type FoundText = {
  readonly text: string;
  readonly isCut: boolean;
  readonly prefix: string;
  readonly limit: number;
  /** Notes for the model about the pattern and about what was left out. */
  readonly note: string;
  readonly isOneFile: boolean;
};

function buildOutcome(query: GrepInput, mode: TextQuery['mode'], found: FoundText): ToolOutcome {
  const { lines, summary } = formatLines(mode, found);
  const offset = query.offset ?? 0;
  const shown = lines.slice(offset, offset + found.limit);
  const total = `${found.isCut ? 'more than ' : ''}${lines.length}`;
  const notes = [
    ...(mode === 'content' ? [] : [summary]),
    ...(offset + shown.length < lines.length
      ? [`Shown: ${offset + 1} to ${offset + shown.length} of ${total}. Go on with offset ${offset + shown.length}.`]
      : []),
    ...(found.isCut ? ['The search was ended early because it found so much; narrow it.'] : []),
    ...(shown.length === 0 && lines.length > 0 ? [`Nothing is left at offset ${offset}.`] : []),
    ...(found.note === '' ? [] : [found.note]),
  ];
  const body = notes.length === 0 ? shown.join('\n') : `${shown.join('\n')}\n\n[${notes.join(' ')}]`;
  return {
    content: lines.length === 0 ? ['No matches.', found.note].join(' ').trim() : body,
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

function formatLines(mode: TextQuery['mode'], { text, prefix, isOneFile }: FoundText) {
  switch (mode) {
    case 'content': {
      const lines = sortMatchLines(text, isOneFile ? undefined : prefix);
      return { lines, summary: formatCount(lines.length, 'line') };
    }
    case 'files_with_matches': {
      const lines = parseSortedFileList(text, prefix);
      return { lines, summary: formatCount(lines.length, 'file') };
    }
    case 'count': {
      const { lines, sum } = sortMatchCounts(text, prefix);
      const noun = sum === 1 ? 'match' : 'matches';
      return { lines, summary: `${sum} ${noun} in ${formatCount(lines.length, 'file')}` };
    }
    default:
      return exhaustive(mode);
  }
}
