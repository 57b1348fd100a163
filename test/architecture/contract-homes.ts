import { dirname, join, normalize } from 'node:path/posix';
import { isNode, type Node, treeOf } from './syntax.ts';
import type { Rule } from './violations.ts';

const CONTRACTS = 'contracts/';

/**
 * Reports exports of contracts/ that fewer than two rooms import and that no export which two rooms import is made of.
 */
export const contractHomes: Rule = (sources) => {
  const readers = new Map<string, Set<string>>();
  const parts = new Map<string, readonly string[]>();
  const exported: string[] = [];
  for (const [path, text] of Object.entries(sources)) {
    if (!text.includes(CONTRACTS) && !path.startsWith(CONTRACTS)) continue;
    const statements = statementsOf(path, text);
    const imported = new Map(statements.flatMap((statement) => namesOf(path, statement)));
    if (!path.startsWith(CONTRACTS)) {
      for (const key of imported.values())
        readers.set(key, (readers.get(key) ?? new Set()).add(path.split('/')[0] ?? ''));
      continue;
    }
    for (const statement of statements) {
      const declaration = isNode(statement.declaration) ? statement.declaration : statement;
      for (const name of declaredIn(declaration)) {
        const key = `${path}#${name}`;
        parts.set(
          key,
          identifiersIn(declaration).map((word) => imported.get(word) ?? `${path}#${word}`),
        );
        if (statement !== declaration) exported.push(key);
      }
    }
  }
  const shared = new Set<string>();
  const waiting = exported.filter((key) => (readers.get(key)?.size ?? 0) >= 2);
  for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
    if (shared.has(key)) continue;
    shared.add(key);
    waiting.push(...(parts.get(key) ?? []));
  }
  return exported
    .filter((key) => !shared.has(key))
    .map((key) => {
      const [room] = readers.get(key) ?? [];
      return `${key.replace('#', ': ')} is used by ${room === undefined ? 'no room' : `${room} only; move it there`}`;
    });
};

function statementsOf(path: string, text: string): readonly Node[] {
  const tree = treeOf(path, text);
  return isNode(tree) && Array.isArray(tree.body) ? tree.body.filter(isNode) : [];
}

/** Returns the names that a statement imports from contracts/, or exports again, each with its file and name there. */
function namesOf(path: string, statement: Node): readonly (readonly [string, string])[] {
  const { source, specifiers } = statement;
  if (!isNode(source) || typeof source.value !== 'string' || !Array.isArray(specifiers)) return [];
  const target = normalize(join(dirname(path), source.value));
  if (!target.startsWith(CONTRACTS)) return [];
  return specifiers.flatMap((one: unknown) => {
    if (!isNode(one)) return [];
    const name = nameOf(one.type === 'ExportSpecifier' ? one.local : one.imported);
    return name === undefined ? [] : [[nameOf(one.local) ?? name, `${target}#${name}`] as const];
  });
}

function declaredIn(declaration: Node): readonly string[] {
  if (!Array.isArray(declaration.declarations)) return [nameOf(declaration.id)].filter((name) => name !== undefined);
  return declaration.declarations.flatMap((one: unknown) => (isNode(one) ? (nameOf(one.id) ?? []) : []));
}

function identifiersIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(identifiersIn);
  if (!isNode(value)) return [];
  return [
    ...(nameOf(value) === undefined ? [] : [nameOf(value) ?? '']),
    ...Object.values(value).flatMap(identifiersIn),
  ];
}

function nameOf(node: unknown): string | undefined {
  return isNode(node) && node.type === 'Identifier' && typeof node.name === 'string' ? node.name : undefined;
}
