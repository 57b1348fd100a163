import { basename } from 'node:path/posix';
import { parseSync } from 'oxc-parser';

/** A node of a syntax tree. */
export type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
};

export type Import = { readonly kind: 'static' | 'type' | 'dynamic'; readonly target: string | undefined };

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

/** Parses a source; trees are cached by text. */
export function treeOf(path: string, text: string): unknown {
  const known = trees.get(text);
  if (known !== undefined) return known;
  const { program: tree, errors } = parseSync(basename(path), text);
  if (errors.length > 0) throw new Error(`${path}: ${errors.map(({ message }) => message).join(' ')}`);
  trees.set(text, tree);
  return tree;
}
const trees = new Map<string, unknown>();

/** Returns the nodes of a source, each before its parts; those inside an import declaration are left out. */
export function nodesOf(path: string, text: string): readonly Node[] {
  const tree = treeOf(path, text);
  if (!isNode(tree)) return [];
  const known = nodes.get(tree);
  if (known !== undefined) return known;
  const found: Node[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) visit(one);
    else if (isNode(value)) {
      found.push(value);
      if (value.type === 'ImportDeclaration') return;
      for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) visit(part);
    }
  };
  visit(tree);
  nodes.set(tree, found);
  return found;
}
const nodes = new WeakMap<Node, readonly Node[]>();

/** Returns every import of a source: static, type and dynamic ones, `require` and worker URLs. */
export function importsOf(path: string, text: string): readonly Import[] {
  const tree = treeOf(path, text);
  if (!isNode(tree)) return [];
  const known = imports.get(tree) ?? nodesOf(path, text).flatMap((node) => importAt(node) ?? []);
  imports.set(tree, known);
  return known;
}
const imports = new WeakMap<Node, readonly Import[]>();

function importAt(node: Node): Import | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
      return { kind: node.importKind === 'type' ? 'type' : 'static', target: plainText(node.source) };
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      if (!isNode(node.source)) return undefined;
      return { kind: node.exportKind === 'type' ? 'type' : 'static', target: plainText(node.source) };
    case 'ImportExpression':
    case 'TSImportType':
      return { kind: 'dynamic', target: plainText(node.source) };
    case 'CallExpression':
      return isNamed(node.callee, /^require$/) ? loaded(node) : undefined;
    case 'NewExpression':
      return isNamed(node.callee, /^URL$/) && /\.[cm]?[jt]sx?$/.test(plainText(argument(node)) ?? '')
        ? loaded(node)
        : undefined;
    default:
      return undefined;
  }
}

const loaded = (call: Node): Import => ({ kind: 'dynamic', target: plainText(argument(call)) });
const argument = (call: Node): unknown => (Array.isArray(call.arguments) ? call.arguments[0] : undefined);
const isNamed = (node: unknown, name: RegExp): boolean =>
  isNode(node) && typeof node.name === 'string' && name.test(node.name);

/** Returns the text of a literal, or of a template without expressions. */
function plainText(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  const [quasi, ...more] = Array.isArray(node.quasis) ? node.quasis : [];
  return more.length === 0 ? templateText(quasi) : undefined;
}

/** Returns the text of one piece of a template. */
export function templateText(quasi: unknown): string | undefined {
  const value = isNode(quasi) ? quasi.value : undefined;
  return typeof value === 'object' && value !== null && 'cooked' in value && typeof value.cooked === 'string'
    ? value.cooked
    : undefined;
}
