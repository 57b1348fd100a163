import { expect, test } from 'vitest';
import { readSources, type Sources } from './sources.ts';
import { isNode, type Node, nodesOf, templateText } from './syntax.ts';

/** Files that may recognise a text, with the reason. Everything else decides on codes and fields. */
const ALLOWED: Readonly<Record<string, string>> = {
  'checkpoints/shell-file-change-detector.ts': 'the reason that a folder was skipped is a shared constant',
  'context/compaction/summary.ts': 'sections of the stored summary, whose format sessions on disk keep',
  'engine/request/rejected-parts.ts': 'its own replacement in a request, which has no field for it',
  'packages/fleet/src/git/open-forge.ts': 'messages of GitHub',
  'lib/text/front-matter.ts': 'messages of the YAML parser',
  'mcp/sampling.ts': 'an answer to a question is the label of the chosen option',
  'model/providers/anthropic/messages-api-port.ts': 'messages of the provider',
  'model/providers/demo/demo-port.ts': 'the scripted model reads its prompt, as every model does',
  'model/providers/demo/tour.ts': 'the scripted model reads the results of tools, as every model does',
  'model/providers/openai-chat/openai-chat-port.ts': 'messages of providers',
  'model/providers/openai-responses/responses-request.ts': 'messages of the provider',
  'model/stream/error-response.ts': 'messages of servers',
  'model/stream/failure-kind.ts': 'messages of providers',
  'model/stream/failures.ts': 'messages of the runtime',
  'permissions/shell/programs/program-risks.ts': 'SQL in the arguments of a command',
  'sandbox/read-only/sandbox-denials.ts': 'messages of programs in the sandbox',
  'session/resume/recorded-facts.ts': 'sessions of version 0.1 hold sentences only',
  'ui/widgets/first-run/show-first-run.ts': 'the note that it removes is the one that it set',
};

/** Stands for a part of a template that is only known at run time. */
const GAP = 'X1';
const METHODS = /^(?:startsWith|endsWith|includes|indexOf|lastIndexOf|split|replace|replaceAll|match|search)$/;

type Recognition = { readonly path: string; readonly line: number; readonly source: string; readonly test: Matcher };
type Matcher = (sentence: string) => boolean;

/** Returns the places where the source recognises one of its own sentences, as `path:line source`. */
function findTextProtocols(sources: Sources): readonly (Omit<Recognition, 'test'> & { readonly sentence: string })[] {
  const files = Object.entries(sources).map(([path, text]) => ({
    path,
    text,
    nodes: nodesOf(path, text).filter(({ type }) => TYPES.has(type)),
  }));
  const codes = new Set(files.flatMap(({ nodes }) => nodes.flatMap(literalOfType)));
  const shared = new Map(files.flatMap(({ nodes }) => listConstants(nodes)));
  const compared = new Set(files.flatMap(({ nodes }) => nodes.flatMap(listComparedValues)));
  const sentences = files
    .flatMap(({ nodes }) => nodes.flatMap((node) => (compared.has(node) ? [] : (readText(node) ?? []))))
    .filter(isSentence);
  return files.flatMap(({ path, text, nodes }) => {
    const own = new Map(listConstants(nodes));
    const readConstant = (name: string) => (own.has(name) ? own : shared).get(name);
    return nodes
      .flatMap((node) => listRecognitions(node, readConstant, codes))
      .flatMap(({ at, source, test }) => {
        const sentence = sentences.find(test);
        const line = text.slice(0, at.start).split('\n').length;
        return sentence === undefined ? [] : [{ path, line, source, sentence }];
      });
  });
}

/** The nodes that hold a text or compare one; the others are four fifths of a tree. */
const TYPES: ReadonlySet<string> = new Set([
  ...['Literal', 'TemplateLiteral', 'JSXText', 'TSLiteralType', 'VariableDeclarator'],
  ...['BinaryExpression', 'SwitchCase', 'CallExpression', 'NewExpression'],
]);

/** Returns the text of a literal, or of a template with a mark for each of its gaps. */
function readText(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'JSXText' && typeof node.value === 'string') return node.value;
  if (node.type !== 'TemplateLiteral' || !Array.isArray(node.quasis)) return undefined;
  return node.quasis.map((quasi) => templateText(quasi) ?? '').join(GAP);
}

/** Members of a union type are codes, even if they contain blanks. */
function literalOfType(node: Node): readonly string[] {
  const text = node.type === 'TSLiteralType' ? readText(node.literal) : undefined;
  return text === undefined ? [] : [text];
}

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /^\W*[A-Za-z][A-Za-z'-]+\W*$/.test(word) && !word.includes(GAP)).length;
}

/** A text for people: three words, or two with something in between; no list of names and no code. */
function isSentence(text: string): boolean {
  return countWords(text) >= (text.includes(GAP) ? 2 : 3) && !/[{};=]\n|^\s*\n/.test(text);
}

/** Returns the constants of a source, whose names are in capitals. */
function listConstants(nodes: readonly Node[]): readonly (readonly [string, unknown])[] {
  return nodes.flatMap((node) =>
    node.type === 'VariableDeclarator' && isNode(node.id) && /^[A-Z][A-Z\d_]*$/.test(String(node.id.name))
      ? [[String(node.id.name), node.init] as const]
      : [],
  );
}

/** Returns what a node compares a text with: for equality, as a case, or as a part of it. */
function listComparedValues(node: Node): readonly unknown[] {
  switch (node.type) {
    case 'BinaryExpression':
      return /^[!=]==?$/.test(String(node.operator)) ? [node.left, node.right] : [];
    case 'SwitchCase':
      return [node.test];
    case 'CallExpression': {
      const method = isNode(node.callee) && isNode(node.callee.property) ? String(node.callee.property.name) : '';
      return METHODS.test(method) && Array.isArray(node.arguments) ? node.arguments.slice(0, 1) : [];
    }
    default:
      return [];
  }
}

function listRecognitions(node: Node, readConstant: (name: string) => unknown, codes: ReadonlySet<string>) {
  const texts = listComparedValues(node).flatMap((value) => {
    const named = isNode(value) && value.type === 'Identifier' ? readConstant(String(value.name)) : value;
    const text = readText(named);
    if (text === undefined || codes.has(text) || countWords(text) < 2) return [];
    const parts = text.split(GAP).filter((part) => part.trim() !== '');
    const test: Matcher = (sentence) =>
      node.type === 'CallExpression' ? parts.every((part) => sentence.includes(part)) : sentence === text;
    return [{ at: node, source: JSON.stringify(text), test }];
  });
  return [...texts, ...listPatterns(node)];
}

/** Returns the test of a regular expression that names at least two adjacent words. */
function listPatterns(node: Node) {
  const pattern = readPattern(node);
  if (pattern === undefined) return [];
  const plain = pattern.source.replaceAll(/\\s[+*]?/g, ' ').replaceAll(/\\[^s]|[[\](){}|^$?*+.]/g, '|');
  const phrases = plain.match(/[A-Za-z'-]{2,}(?: [A-Za-z'-]{2,})+/g) ?? [];
  if (phrases.length === 0) return [];
  const test: Matcher = (sentence) => {
    const found = pattern.exec(sentence)?.[0].replaceAll(/\s+/g, ' ').toLowerCase();
    return found !== undefined && phrases.some((phrase) => found.includes(phrase.toLowerCase()));
  };
  return [{ at: node, source: String(pattern), test }];
}

function readPattern(node: Node): RegExp | undefined {
  const { regex, callee, arguments: values } = node;
  if (typeof regex === 'object' && regex !== null && 'pattern' in regex && 'flags' in regex)
    return new RegExp(String(regex.pattern), String(regex.flags).replaceAll(/[gy]/g, ''));
  if (!isNode(callee) || callee.name !== 'RegExp' || !Array.isArray(values)) return undefined;
  const source = readText(values[0]);
  if (source === undefined) return undefined;
  try {
    return new RegExp(source.replaceAll(GAP, String.raw`\S+`));
  } catch {
    return undefined;
  }
}

test('no code decides by the text of a message, and every exception is needed', () => {
  const found = findTextProtocols(readSources());
  const forbidden = found.filter(({ path }) => ALLOWED[path] === undefined);
  const unused = Object.keys(ALLOWED).filter((allowed) => !found.some(({ path }) => path === allowed));
  expect({ forbidden, unused }).toEqual({ forbidden: [], unused: [] });
});

const SENTENCE = ['export const text = (name: string) => `$', '{name} was not run. Ask the user first.`;'].join('');

test.each([
  ['another start', "export const a = (text: string) => text.startsWith('Bash was not');", []],
  ['a start', "export const a = (text: string) => text.startsWith('was not run');", ['a.ts:1']],
  ['a part', "export const a = (text: string) => text.includes('the user first');", ['a.ts:1']],
  ['a part by its name', "const A = 'not run';\nexport const a = (text: string) => text.endsWith(A);", ['a.ts:2']],
  ['a part to remove', "export const a = (text: string) => text.replace(' was not run', '');", ['a.ts:1']],
  ['a pattern', 'export const A = /^\\S+ was not run/;', ['a.ts:1']],
  ['a pattern with alternatives', 'export const A = /(?:is broken|was not run)/i;', ['a.ts:1']],
  ['a pattern from a text', "export const A = new RegExp('not\\\\s+run');", ['a.ts:1']],
  ['a whole sentence', "export const a = (text: string) => text === 'No key was found.';", ['a.ts:1']],
  [
    'a whole sentence by its name',
    "const A = 'No key was found.';\nexport const a = (text: string) => A !== text;",
    ['a.ts:2'],
  ],
  [
    'a case',
    "export function a(text: string) {\n  switch (text) {\n    case 'No key was found.':\n      return 1;\n  }\n}",
    ['a.ts:3'],
  ],
  ['a code', "type A = 'No key was found.';\nexport const a = (code: A) => code === 'No key was found.';", []],
  ['one word', "export const a = (text: string) => text.includes('user');", []],
  ['text of others', 'export const A = /permission denied|no such file/;', []],
])('%s of a sentence counts where it matches one of ours', (_, source, places) => {
  const sources = { 'a.ts': source, 'b.ts': SENTENCE, 'c.ts': "export const problem = 'No key was found.';" };
  const found = findTextProtocols(sources).map(({ path, line }) => `${path}:${line}`);
  expect([...new Set(found)]).toEqual(places);
});
