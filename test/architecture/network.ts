import type { Sources } from './sources.ts';
import { importsOf, isNode, nodesOf } from './syntax.ts';

/** The file that sends requests to this machine past every proxy. Packages import it by a name of the core. */
const FETCH = 'lib/network/fetch.ts';
const EXPORTED_FETCH = /^import \{[^}]*\bfetch\b[^}]*\} from '@ouro-cli\/ouro\/commands'/m;

/** Returns the files that use the `fetch` of the runtime as a value. */
export function networkViolations(sources: Sources): readonly string[] {
  return Object.entries(sources).flatMap(([path, text]) =>
    path !== FETCH && usesRuntimeFetch(path, text)
      ? [`${path}: uses the runtime's fetch, which sends requests to this machine to a proxy; import ${FETCH}`]
      : [],
  );
}

function usesRuntimeFetch(path: string, text: string): boolean {
  if (!/\bfetch\b/.test(text)) return false;
  const nodes = nodesOf(path, text);
  const isImported =
    EXPORTED_FETCH.test(text) || importsOf(path, text).some(({ target }) => target?.endsWith(`/${FETCH}`));
  const isDeclared = nodes.some(
    ({ type, id, properties }) =>
      (type === 'FunctionDeclaration' && isFetch(id)) ||
      (type === 'ObjectPattern' &&
        Array.isArray(properties) &&
        properties.some((one) => isNode(one) && isFetch(one.value))),
  );
  if (isImported || isDeclared) return false;
  return nodes.some(({ type, callee, right, init, arguments: given, object, property }) => {
    if (type === 'MemberExpression') return isNode(object) && object.name === 'globalThis' && isFetch(property);
    return [callee, right, init, ...(Array.isArray(given) ? given : [])].some(isFetch);
  });
}

const isFetch = (node: unknown): boolean => isNode(node) && node.type === 'Identifier' && node.name === 'fetch';
