import type { Policy } from '../../contracts/permission.ts';
import { familyOf } from '../rules/families.ts';
import { searchGlobs } from './path-rule.ts';
import { SECRET_GLOBS, secretPlaces } from './secrets.ts';

/** What a search through folders must leave out: every place a rule denies or asks about, and files of secrets. */
export function excludedFromSearch(policy: Policy): readonly string[] {
  const ruled = policy.rules.filter(
    ({ behavior, tool, specifier, problem }) =>
      behavior !== 'allow' && problem === undefined && specifier !== undefined && familyOf(tool) === 'read',
  );
  return [
    ...new Set([
      ...ruled.flatMap((rule) => searchGlobs(rule, policy)),
      ...SECRET_GLOBS,
      ...secretPlaces(policy.home),
      ...(policy.copiedSecrets ?? []),
    ]),
  ];
}
