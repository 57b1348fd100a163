import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { TakeOverOffer } from '../../contracts/face/first-run.ts';
import { writePrivately } from '../../lib/files/private-file.ts';

type Places = Pick<Environment, 'home' | 'ouroHome'>;

/** What may be taken over, as it is called and as a person knows it. */
const HELD = [
  ['settings.json', 'settings'],
  ['CLAUDE.md', 'CLAUDE.md'],
  ['commands', 'commands'],
  ['skills', 'skills'],
  ['agents', 'agents'],
  ['output-styles', 'output styles'],
] as const;

/** What another assistant keeps for this user and nobody was asked about yet. Only names are looked at. */
export function takeOverOffer({ home, ouroHome }: Places): TakeOverOffer | undefined {
  const from = join(home, '.claude');
  if (existsSync(answerFile(ouroHome)) || !existsSync(from)) return undefined;
  const holds = HELD.filter(([name]) => existsSync(join(from, name))).map(([, words]) => words);
  return holds.length === 0 ? undefined : { from, to: ouroHome, holds };
}

/** It is asked once: what was said stays said. */
export function keepTakeOverAnswer(ouroHome: string, answer: 'yes' | 'no', from: string): Promise<void> {
  return writePrivately(answerFile(ouroHome), `${JSON.stringify({ v: 1, answer, from })}\n`);
}

function answerFile(ouroHome: string): string {
  return join(ouroHome, 'taken-over.json');
}
