import type { SeenRequest } from '../../test/support/api/dialect.ts';
import {
  disconnectAt,
  endBodyAt,
  errorAt,
  overloaded,
  rateLimited,
  sendGarbageAt,
  sendPingsAt,
  sendUnknownEventsAt,
  stallAt,
} from '../../test/support/api/faults.ts';
import {
  type ApiBlock,
  type ApiTurn,
  brokenToolUse,
  calls,
  delayed,
  htmlError,
  reply,
  reset,
  type StreamFault,
  type StreamPosition,
  says,
  status,
  text,
  thinking,
  toolUse,
} from '../../test/support/api/reply.ts';
import type { Dice } from './dice.ts';

const never = new Promise<never>(() => undefined);
const MOMENTS = [0, 1, 2, 5, 9, 'content_block_stop', 'message_delta', 'message_stop'] as const;

/** Creates a model with random replies, calls and faults; `calm()` ends the faults. */
export function createScript(dice: Dice) {
  let isCalm = false;
  let faultsInARow = 0;
  const played: string[] = [];

  function turn(request: SeenRequest): ApiTurn {
    if (isCalm) return says(`All is calm. ${crypto.randomUUID()}`);
    // Retries are limited: not every attempt of a request may fail.
    if (faultsInARow < 3 && dice.percent(25)) {
      const [name, fault] = dice.pick(failures(dice));
      faultsInARow += 1;
      played.push(name);
      return fault();
    }
    faultsInARow = 0;
    const length = request.body.messages?.length ?? 0;
    const answer =
      length < 14 && dice.percent(65) ? calls(...createText(dice), ...createCalls(dice)) : reply(createText(dice));
    const odd = dice.percent(10) ? sendUnknownEventsAt(2) : [];
    return { ...answer, delayMs: dice.below(5), chunk: 10 + dice.below(60), faults: odd };
  }

  return {
    turn,
    calm() {
      isCalm = true;
    },
    played: (): readonly string[] => played,
  };
}

function createText(dice: Dice): readonly ApiBlock[] {
  const words = text(
    `${dice.pick(['I look.', '# A head\n\n- a list\n', '日本 👍', 'x'.repeat(3_000)])} ${crypto.randomUUID()}`,
  );
  return dice.percent(20) ? [thinking(`Hm. ${crypto.randomUUID()}`), words] : [words];
}

function createCalls(dice: Dice): readonly ApiBlock[] {
  return Array.from({ length: 1 + dice.below(4) }, () => dice.pick(CALLS)(dice));
}

const bash = (command: string, more: object = {}) => toolUse('Bash', { command, description: 'Do it', ...more });

const CALLS: readonly [(dice: Dice) => ApiBlock, ...((dice: Dice) => ApiBlock)[]] = [
  () => toolUse('Read', { file_path: 'a.txt' }),
  () => toolUse('Grep', { pattern: 'alpha' }),
  (dice) => toolUse('Write', { file_path: `new-${dice.below(3)}.txt`, content: `words ${dice.below(100)}\n` }),
  () => bash('echo one >> c.txt; cat c.txt'),
  (dice) => bash(`sleep 0.${dice.below(4)}; ls`),
  () => bash('setsid sleep 300 & echo gone'),
  () => bash('setsid sleep 300', { run_in_background: true }),
  () => bash('trap "" TERM; sleep 1'),
  () => bash('head -c 300000 /dev/zero | tr "\\0" x'),
  () => bash('printf "\\033[?1049h\\033]0;title\\007\\377\\000"'),
  () => toolUse('Read', { file_path: 'not-there.txt' }),
  () => toolUse('a tool: with | odd 👍 letters', { x: 1 }),
  () => toolUse('', {}),
  (dice) => toolUse('Read', { file_path: 'b.txt' }, dice.pick(['', 'one', 'call:1|👍'])),
  () => brokenToolUse('Read', '{"file_path": '),
  () => brokenToolUse('Read', `${'{"in":'.repeat(5_000)}1${'}'.repeat(5_000)}`),
];

type Failure = readonly [string, () => ApiTurn];

function failures(dice: Dice): readonly [Failure, ...Failure[]] {
  const at = dice.pick<StreamPosition>(MOMENTS);
  const broken = (...faults: readonly StreamFault[]) => ({ ...reply(createText(dice)), chunk: 20, faults });
  return [
    ['overloaded', overloaded],
    ['500', () => status(500)],
    ['502 with a page', () => htmlError()],
    ['rate limit', () => rateLimited(0)],
    ['reset', reset],
    ['cut', () => broken(disconnectAt(at))],
    ['end', () => broken(endBodyAt(at))],
    ['error event', () => broken(...errorAt(3))],
    ['rubbish', () => broken(sendGarbageAt(2), disconnectAt(4))],
    ['silence', () => broken(stallAt(3, never))],
    ['pings', () => broken(sendPingsAt(3, never))],
    ['slow headers', () => delayed(dice.below(400), says(`Late. ${crypto.randomUUID()}`))],
  ];
}
