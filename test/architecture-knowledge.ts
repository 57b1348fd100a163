import { basename } from 'node:path/posix';
import { parseSync } from 'oxc-parser';
import { PROGRAM_NAMES } from '../src/permissions/bash/programs.ts';
import { TOOL_STATEMENTS } from '../src/tools/statements.ts';
import type { Sources } from './architecture-rules.ts';
import { isNode } from './architecture-shape.ts';

/** Where what is known of programs stands. */
const TABLE = 'permissions/bash/programs';
/** The words that rules begin with. */
const GRAMMAR = 'permissions/rules/families.ts';
const TOOLS = new Set(TOOL_STATEMENTS.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
/** Names that are words of ours too: kinds of needs and files, a key of an input, a source of rules. */
const OUR_WORDS = ['command', 'read', 'file', 'local'];
const NAMES = new Set(PROGRAM_NAMES.filter((name) => /\w/.test(name) && !OUR_WORDS.includes(name)));

/** Knowledge that stands where it does not belong. */
export function knowledgeViolations(sources: Sources): readonly string[] {
  return Object.entries(sources).flatMap(([path, text]) => {
    if (!path.startsWith('permissions/') && !path.startsWith('app/permissions/')) return [];
    const texts = textsIn(path, text);
    const isTable = path.startsWith(TABLE) || path.startsWith('app/');
    const programs = isTable ? [] : new Set(texts.flatMap(programsIn));
    const tools =
      path === GRAMMAR
        ? []
        : new Set(texts.map((words) => words.join(' ')).filter((one) => TOOLS.has(one) && !isSyntax(path, one)));
    return [
      ...[...programs].map((name) => `${path}: names the program ${name}, which only ${TABLE} may`),
      ...[...tools].map((name) => `${path}: names the tool ${name}; its own folder says what it does`),
    ];
  });
}

/** The texts of a source and the choices of its patterns, each as a list of words; types only describe. */
function textsIn(path: string, text: string): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const one of node) visit(one);
    if (!isNode(node) || node.type === 'TSLiteralType') return;
    if (node.type === 'Literal' && typeof node.value === 'string') found.push(node.value.split(' '));
    const { regex } = node;
    if (typeof regex === 'object' && regex !== null && 'pattern' in regex) found.push(choicesOf(String(regex.pattern)));
    for (const part of Object.values(node)) if (typeof part === 'object') visit(part);
  };
  visit(parseSync(basename(path), text).program);
  return found;
}

/** Each choice of a pattern by the word it begins with: `python` of `python[\d.]*`. */
function choicesOf(pattern: string): readonly string[] {
  return pattern
    .replace(/^\^|\$$/g, '')
    .replace(/^\(\?:(.*)\)\??$/s, '$1')
    .split('|')
    .map((choice) => /^[A-Za-z][\w-]*(?=$|[[\\(.*?])/.exec(choice)?.[0] ?? choice);
}

/** A sentence may hold the name of a program by chance, and a list of keywords too; what is mostly names is a list of them. */
function programsIn(words: readonly string[]): readonly string[] {
  const names = words.filter((word) => NAMES.has(word));
  return names.length * 2 >= words.length ? names : [];
}

/** What the parser of the shell calls a pattern of names has the name of a tool. */
function isSyntax(path: string, word: string): boolean {
  return path.startsWith('permissions/bash/') && word === 'Glob';
}
