import { REFUSALS, type Refusal } from '../contracts/denial.ts';

/** Describes for the model that a question of a tool was put and not answered. */
export function describeUnansweredQuestion({ by, reason = '' }: Refusal): string {
  const words = reason.trim();
  const { subject, says } = REFUSALS[by];
  return `${subject} declined to answer.${words === '' ? ' Nothing was decided.' : ` ${says}: ${words}`}`;
}
