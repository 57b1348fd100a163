import type { Policy } from '../../contracts/permission.ts';
import { familyOf } from '../rules/families.ts';
import { pathRuleTest, searchGlobs } from './path-rule.ts';

/** What rules deny to read or to change, for what holds programs to it: places by name, and a test for the others. */
export type DeniedPlaces = { readonly places: readonly string[]; readonly denies: (path: string) => boolean };

export function deniedPlaces(policy: Policy, use: 'read' | 'write'): DeniedPlaces {
  const family = use === 'read' ? 'read' : 'edit';
  const rules = policy.rules.filter(
    ({ behavior, tool, specifier, problem }) =>
      behavior === 'deny' && problem === undefined && specifier !== undefined && familyOf(tool) === family,
  );
  const globs = rules.flatMap((rule) => searchGlobs(rule, policy)).map((glob) => glob.replace(/(?:\/|\/\*\*)+$/, ''));
  const places = globs.filter((glob) => glob.startsWith('/') && !/(?<!\\)[*?[{!]/.test(glob));
  const tests = rules.map((rule) => pathRuleTest(rule, { tool: rule.tool, use }, policy));
  return {
    places: places.map((place) => place.replace(/\\(.)/g, '$1')),
    denies: (path) =>
      tests.some((fits) => fits({ spelling: path, lexical: path, real: path, kind: 'other', nlink: 1 })),
  };
}
