import { listKnownProgramNames } from '../../src/permissions/shell/programs/find-program-facts.ts';
import { TOOL_TRAITS } from '../../src/tools/tool-traits.ts';
import { isNode, nodesOf, templateText } from './syntax.ts';
import type { Rule } from './violations.ts';

/** The table of what is known about programs. */
const TABLE = 'permissions/shell/programs';
/** The file that finds and probes the sandbox program. */
const SANDBOX = 'sandbox/backend.ts';
/**
 * Files outside tools/ that may name tools: the prefixes of rules, the tools of built-in sub-agents, the calls of the
 * demo model, the request formats of hosts and editors, and what the screen shows by name.
 */
const TOOL_NAME_READERS = [
  'permissions/rules/rule-families.ts',
  'extensions/load-agents.ts',
  'model/providers/demo/tour.ts',
  'cli/modes/sdk-host/host-questions.ts',
  'cli/modes/acp/session-updates.ts',
  'ui/widgets/menu/key-help.ts',
  'ui/widgets/tool-calls/live-call.ts',
  'ui/widgets/tool-calls/tool-entry.ts',
  'ui/input/run-key-command.ts',
];
/** Arguments that name a file or an edit. What a call touches is asked of `listTouchedFiles`. */
const FILE_ARGUMENTS = [
  'file_path',
  'notebook_path',
  'path',
  'old_string',
  'new_string',
  'new_source',
  'edits',
  'patch',
];
/** Files outside tools/ that may read them: the calls of the demo model, and the screen, which draws calls it replays. */
const FILE_ARGUMENT_READERS = [
  'model/providers/demo/tour.ts',
  'ui/widgets/diff/diff-lines.ts',
  'ui/widgets/viewer/page-rows.ts',
];
const TOOLS = new Set(TOOL_TRAITS.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
/** Names of programs that are also kinds of requirements, keys of inputs and rules, or sources of rules. */
const COMMON_WORDS = ['command', 'read', 'file', 'local', 'source'];
const NAMES = new Set(listKnownProgramNames().filter((name) => /\w/.test(name) && !COMMON_WORDS.includes(name)));

/** The rules by which a fact about a program or a tool has one place. */
export const KNOWLEDGE_RULES: Readonly<Record<string, Rule>> = {
  'programs are named only in the table of programs': (sources) =>
    Object.entries(sources)
      .filter(([path]) => isGate(path) && !isTable(path))
      .flatMap(([path, text]) =>
        [...new Set(wordsIn(path, text).flatMap(programsIn))].map(
          (name) => `${path}: names the program ${name}; only ${TABLE} may`,
        ),
      ),
  'tools are named only in their definitions': (sources) =>
    Object.entries(sources)
      .filter(([path]) => !path.startsWith('tools/') && !TOOL_NAME_READERS.includes(path))
      .flatMap(([path, text]) =>
        [...new Set(wordsIn(path, text).flatMap((words) => toolsIn(path, words)))].map(
          (name) => `${path}: names the tool ${name}; its definition must declare the property`,
        ),
      ),
  'arguments of tools are read only by the tools': (sources) =>
    Object.entries(sources)
      .filter(([path]) => !path.startsWith('tools/') && !FILE_ARGUMENT_READERS.includes(path))
      .flatMap(([path, text]) =>
        [...new Set(fileArgumentsIn(path, text))].map(
          (name) => `${path}: reads the argument ${name} of a tool; its facts must state it`,
        ),
      ),
};

const isGate = (path: string): boolean => path.startsWith('permissions/') || path.startsWith('app/permissions/');
const isTable = (path: string): boolean => path === `${TABLE}.ts` || path.startsWith(`${TABLE}/`) || path === SANDBOX;

/** Returns each string, template, pattern and key list of a source, types included, as a list of words. */
function wordsIn(path: string, text: string): readonly (readonly string[])[] {
  const found: (readonly string[])[] = [];
  for (const node of nodesOf(path, text)) {
    if (node.type === 'Literal' && typeof node.value === 'string') found.push(splitWords(node.value));
    if (node.type === 'TemplateLiteral' && Array.isArray(node.quasis))
      found.push(splitWords(node.quasis.map(templateText).join(' _ ')));
    if (node.type === 'ObjectExpression' && Array.isArray(node.properties)) found.push(keysOf(node.properties));
    const { regex } = node;
    if (typeof regex === 'object' && regex !== null && 'pattern' in regex) found.push(choicesOf(String(regex.pattern)));
  }
  return found;
}

/** Returns the arguments for files that a source reads from the input of a call. */
function fileArgumentsIn(path: string, text: string): readonly string[] {
  return nodesOf(path, text).flatMap(({ type, object, property }) => {
    if (type !== 'MemberExpression' || !isNode(object) || !isNode(property)) return [];
    const owner = isNode(object.property) ? object.property.name : object.name;
    const name = String(property.name);
    return owner === 'input' && FILE_ARGUMENTS.includes(name) ? [name] : [];
  });
}

/** `a b`, `a,b` and `a|b` are lists of words; `/usr/bin/a` is one. */
function splitWords(text: string): readonly string[] {
  const words = text.split(/[\s,;|()^$]+/).map((word) => word.replace(/^.*\/s?bin\//, ''));
  return words.filter((word) => word !== '');
}

/** Returns the keys of an object with several; a single key may be any word. */
function keysOf(properties: readonly unknown[]): readonly string[] {
  const keys = properties.flatMap((one) =>
    isNode(one) && isNode(one.key) && one.computed === false && typeof one.key.name === 'string' ? [one.key.name] : [],
  );
  return keys.length > 1 ? keys : [];
}

/** Returns the word each alternative of a pattern begins with: `python` for `python[\d.]*`. */
function choicesOf(pattern: string): readonly string[] {
  return pattern
    .split(/\(\?[:=!]|\(\?<[=!]|[|()]/)
    .map((choice) => choice.replace(/^\^|\$$|\\b|\\\//g, ''))
    .filter((choice) => choice !== '')
    .map((choice) => /^[A-Za-z][\w-]*(?=$|[[\\(*?.])/.exec(choice)?.[0] ?? choice);
}

/** Sentences and keyword lists may contain a program name by chance; a list of names is at least half names. */
function programsIn(words: readonly string[]): readonly string[] {
  const names = words.filter((word) => NAMES.has(word));
  return names.length * 2 >= words.length ? names : [];
}

/** Sentences may begin with a tool name; a list of tools holds nothing else. */
function toolsIn(path: string, words: readonly string[]): readonly string[] {
  return words.every((word) => TOOLS.has(word)) ? words.filter((word) => !isSyntax(path, word)) : [];
}

/** The shell parser calls a file name pattern a glob, which is also the name of a tool. */
function isSyntax(path: string, word: string): boolean {
  return path.startsWith('permissions/shell/') && word === 'Glob';
}
