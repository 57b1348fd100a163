import { parse } from 'unbash';
import { characterProblems } from '../check-bytes.ts';
import { NOWHERE } from '../shell-part.ts';
import { isCovered } from './covered.ts';
import { readCertain } from './read-certain.ts';
import { readOnlyReading } from './read-only.ts';

/** True when a command certainly changes nothing, not even its own folder: others may run beside it. */
export function onlyLooks(command: string): boolean {
  const script = parse(command);
  const { parts, problems } = readCertain(command, script, '/', NOWHERE);
  if (problems.length > 0 || characterProblems(command).length > 0 || !isCovered(command, script)) return false;
  return parts.every(
    ({ argv, assignments, redirects }) =>
      assignments.length === 0 && redirects.every(({ use }) => use === 'read') && readOnlyReading(argv).ok,
  );
}
