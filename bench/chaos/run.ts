// npm run chaos -- [--seed N] [--minutes M | --rounds R]: plays sessions with random faults and checks the guarantees.
import { parseArgs } from 'node:util';
import { playBatchRound } from './batch-round.ts';
import { playRound, type Round } from './round.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, minutes: { type: 'string' }, rounds: { type: 'string' } },
});
const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000_000));
const mostRounds = Number(values.rounds ?? Number.POSITIVE_INFINITY);
const until = performance.now() + Number(values.minutes ?? (values.rounds === undefined ? 2 : 60)) * 60_000;

/** One round in so many is a batch during outages of the provider. */
const BATCH_EVERY = 15;

const broken: number[] = [];
let [rounds, requests, peakMb] = [0, 0, 0];
process.stdout.write(`seed ${first}\n`);
while (performance.now() < until && rounds < mostRounds) {
  const seed = first + rounds;
  const round = await (seed % BATCH_EVERY === 0 ? playBatchRound : playRound)(seed).catch(
    (thrown): Round => ({ faults: [String(thrown)], story: ['could not be played'], requests: 0, peakMb: 0 }),
  );
  rounds += 1;
  requests += round.requests;
  peakMb = Math.max(peakMb, round.peakMb);
  if (round.faults.length === 0) continue;
  broken.push(seed);
  process.stdout.write(`\nseed ${seed} (${round.story.join(', ')})\n`);
  for (const fault of round.faults) process.stdout.write(`  ${fault.slice(0, 600)}\n`);
}
process.stdout.write(
  `\n${rounds} sessions, ${requests} requests, at most ${Math.round(peakMb)} MB: ${broken.length} broke a guarantee.\n`,
);
for (const seed of broken) process.stdout.write(`  again: npm run chaos -- --seed ${seed} --rounds 1\n`);
process.exit(broken.length === 0 ? 0 : 1);
