import { PROGRAM_NAMES } from '../src/permissions/bash/programs.ts';
import { TOOL_STATEMENTS } from '../src/tools/statements.ts';
import type { Sources } from './architecture-rules.ts';
import { isNode, templateText, treeOf } from './architecture-source.ts';

/** Where what is known of programs stands. */
const TABLE = 'permissions/bash/programs';
/** What finds and tries the program that makes the sandbox. */
const SANDBOX = 'sandbox/probe.ts';
/**
 * Where names of tools may stand besides their folders: the words that rules begin with, the tools of our own
 * sub-agents, what the demo's model calls, the forms in which hosts are asked and
 * editors told, and what the screen shows by name.
 */
const TOOL_WORDS = [
  'permissions/rules/families.ts',
  'extensions/built-in-agents.ts',
  'model/demo/script.ts',
  'cli/control/ask-host.ts',
  'cli/acp/tool-content.ts',
  'ui/menus/help-lines.ts',
  'ui/history/live-tool-lines.ts',
  'ui/history/call-title.ts',
  'ui/press/run-command.ts',
];
const TOOLS = new Set(TOOL_STATEMENTS.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
/** Names that are words of ours too: kinds of needs and files, keys of an input and of a rule, a source of rules. */
const OUR_WORDS = ['command', 'read', 'file', 'local', 'source'];
const NAMES = new Set(PROGRAM_NAMES.filter((name) => /\w/.test(name) && !OUR_WORDS.includes(name)));

/** Knowledge that stands where it does not belong. */
export function knowledgeViolations(sources: Sources): readonly string[] {
  return Object.entries(sources).flatMap(([path, text]) => {
    const isGate = path.startsWith('permissions/') || path.startsWith('app/permissions/');
    const lists = wordsIn(path, text);
    const programs = !isGate || isTable(path) ? [] : new Set(lists.flatMap(programsIn));
    const mayName = path.startsWith('tools/') || TOOL_WORDS.includes(path);
    const tools = mayName ? [] : new Set(lists.flatMap((words) => toolsIn(path, words)));
    return [
      ...[...programs].map((name) => `${path}: names the program ${name}, which only ${TABLE} may`),
      ...[...tools].map((name) => `${path}: names the tool ${name}; its own folder says what it does`),
    ];
  });
}

const isTable = (path: string): boolean => path === `${TABLE}.ts` || path.startsWith(`${TABLE}/`) || path === SANDBOX;

/** Each text, template, pattern and row of keys of a source as a list of words, those of types too. */
function wordsIn(path: string, text: string): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const one of node) visit(one);
    if (!isNode(node) || node.type === 'ImportDeclaration') return;
    if (node.type === 'Literal' && typeof node.value === 'string') found.push(splitWords(node.value));
    if (node.type === 'TemplateLiteral' && Array.isArray(node.quasis))
      found.push(splitWords(node.quasis.map(templateText).join(' _ ')));
    if (node.type === 'ObjectExpression' && Array.isArray(node.properties)) found.push(keysOf(node.properties));
    const { regex } = node;
    if (typeof regex === 'object' && regex !== null && 'pattern' in regex) found.push(choicesOf(String(regex.pattern)));
    for (const part of Object.values(node)) if (typeof part === 'object') visit(part);
  };
  visit(treeOf(path, text));
  return found;
}

/** `a b`, `a,b` and `a|b` are lists of words; `/usr/bin/a` is one. */
function splitWords(text: string): readonly string[] {
  const words = text.split(/[\s,;|()^$]+/).map((word) => word.replace(/^.*\/s?bin\//, ''));
  return words.filter((word) => word !== '');
}

/** One key alone may be a word like any other; several beside one another are a list. */
function keysOf(properties: readonly unknown[]): readonly string[] {
  const keys = properties.flatMap((one) =>
    isNode(one) && isNode(one.key) && one.computed === false && typeof one.key.name === 'string' ? [one.key.name] : [],
  );
  return keys.length > 1 ? keys : [];
}

/** Each choice of a pattern by the word it begins with: `python` of `python[\d.]*`. */
function choicesOf(pattern: string): readonly string[] {
  return pattern
    .split(/\(\?[:=!]|\(\?<[=!]|[|()]/)
    .map((choice) => choice.replace(/^\^|\$$|\\b|\\\//g, ''))
    .filter((choice) => choice !== '')
    .map((choice) => /^[A-Za-z][\w-]*(?=$|[[\\(*?.])/.exec(choice)?.[0] ?? choice);
}

/** A sentence may hold the name of a program by chance, and a list of keywords too; what is mostly names is a list of them. */
function programsIn(words: readonly string[]): readonly string[] {
  const names = words.filter((word) => NAMES.has(word));
  return names.length * 2 >= words.length ? names : [];
}

/** A sentence may begin with the name of a tool; what holds nothing else is one, or a list of them. */
function toolsIn(path: string, words: readonly string[]): readonly string[] {
  return words.every((word) => TOOLS.has(word)) ? words.filter((word) => !isSyntax(path, word)) : [];
}

/** What the parser of the shell calls a pattern of names has the name of a tool. */
function isSyntax(path: string, word: string): boolean {
  return path.startsWith('permissions/bash/') && word === 'Glob';
}
