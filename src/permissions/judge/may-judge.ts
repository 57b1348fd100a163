import type { CallRisk, ToolFacts } from '../../contracts/permission.ts';
import { hiddenCharacter } from '../bash/check-bytes.ts';
import { callRisks } from '../call-risks.ts';
import { holdsHidden } from '../concealed.ts';
import type { Need } from '../paths/finding.ts';

/** What cannot be taken back, or brings in what nobody has seen: a person is asked. */
const PLAINLY_DANGEROUS: readonly CallRisk['kind'][] = ['deletes', 'publishes', 'runs_download'];
/** More than that is not judged at one look. */
const MAX_JUDGED_CHARACTERS = 4_000;

/**
 * Is this question one that a model may answer? Not what rules speak of, what reads or writes a place that asks, what is
 * plainly dangerous, or what does not show as it is.
 */
export function mayJudge(facts: ToolFacts, open: readonly Need[]): boolean {
  if (facts.problem !== undefined || open.length === 0) return false;
  const text = JSON.stringify(facts.input);
  if (text.length > MAX_JUDGED_CHARACTERS || hiddenCharacter(facts.command ?? '') !== undefined) return false;
  if (holdsHidden(facts.input)) return false;
  const isPlain = open.every(({ kind, asks = 'by mode' }) => !['read', 'edit'].includes(kind) && asks === 'by mode');
  return isPlain && !callRisks(facts).some(({ kind }) => PLAINLY_DANGEROUS.includes(kind));
}
