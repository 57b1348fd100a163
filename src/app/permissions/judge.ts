import type { AgentEvent } from '../../contracts/event.ts';
import { isTypedByPerson, type Message } from '../../contracts/message.ts';
import type { SystemPart } from '../../contracts/model.ts';
import { costUsd } from '../../model/pricing.ts';
import { askSmallModel } from '../../model/side/side-calls.ts';
import type { GateParts } from '../../permissions/gate-parts.ts';
import {
  type JudgeEvent,
  NOTHING_JUDGED,
  reduceJudge,
  spentBudget,
  USUAL_LIMITS,
} from '../../permissions/judge/judge-budget.ts';
import {
  JUDGE_ORDER,
  type JudgedCall,
  type Judgement,
  judgeQuestion,
  readJudgement,
} from '../../permissions/judge/judge-question.ts';
import { writtenFilesIn } from '../../permissions/judge/written-files.ts';
import { partText } from '../../prompt/prompt-state.ts';
import type { Core } from '../core.ts';

const PATIENCE_MS = 20_000;
const ANSWER_TOKENS = 120;
const KEPT_WORDS = 12;
/** What a judgement is taken to cost where nobody knows the price of the model. */
const UNKNOWN_PRICE_USD = 0.005;

/** Who answers in mode auto, what he is told, and what he is held to. */
export type Judge = {
  readonly judge: NonNullable<GateParts['judge']>;
  hear(event: AgentEvent): void;
};

type Needs = {
  readonly earlier: readonly Message[];
  /** What the model goes by: the instructions in it are those of the person and the project. */
  readonly system: () => readonly SystemPart[];
  /** What calls of the session wrote. */
  readonly written: () => readonly string[];
};

type AskedCall = Omit<JudgedCall, 'words' | 'instructions' | 'files'>;

/** The small model as judge of calls. It is shown what people wrote, never what a tool gave. */
export function createJudge(
  core: Pick<Core, 'model' | 'smallModel' | 'meter' | 'settings' | 'bus'>,
  needs: Needs,
): Judge {
  let words: readonly string[] = needs.earlier.flatMap(typedWords).slice(-KEPT_WORDS);
  let ledger = NOTHING_JUDGED;
  let before: Promise<unknown> = Promise.resolve();
  const tell = (event: JudgeEvent) => {
    ledger = reduceJudge(ledger, event);
  };

  async function judgement(call: AskedCall, signal: AbortSignal): Promise<Judgement> {
    const { maxInARow = USUAL_LIMITS.inARow, maxUsd = USUAL_LIMITS.usd } = core.settings.now().autoMode ?? {};
    const spent = spentBudget(ledger, { inARow: maxInARow, usd: maxUsd });
    if (spent !== undefined) return { verdict: 'ask', why: spent };
    const model = core.smallModel();
    if (model === undefined) return { verdict: 'ask', why: 'There is no small model here that could judge it.' };
    const files = writtenFilesIn(call.facts.command ?? '', needs.written());
    if (files === 'too long')
      return {
        verdict: 'ask',
        why: 'It names files that were written in this session, and they are more than a look.',
      };
    const answer = await askSmallModel(
      core.model.port,
      {
        model,
        system: JUDGE_ORDER,
        prompt: judgeQuestion({ ...call, files, words, instructions: partText(needs.system(), 'memory') ?? '' }),
        maxTokens: ANSWER_TOKENS,
        onUsage(asked, usage) {
          core.meter.add(asked, usage);
          tell({ is: 'paid', usd: costUsd(usage, core.model.infoOf(asked).price) ?? UNKNOWN_PRICE_USD });
        },
      },
      AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    );
    return readJudgement(answer);
  }

  return {
    // One after the other, so that calls side by side cannot pass the limits together.
    judge(call, title, signal) {
      const next = before.then(async () => {
        const said = await judgement(call, signal);
        if (said.verdict === 'allow') tell({ is: 'allowed', title });
        return said;
      });
      before = next.catch(() => undefined);
      return next;
    },
    hear(event) {
      const typed = event.type === 'message_end' ? typedWords(event.message) : [];
      const isAnswer = event.type === 'permission_answer' && event.by !== 'abort';
      if (typed.length > 0) words = [...words, ...typed].slice(-KEPT_WORDS);
      if (typed.length > 0 || isAnswer) tell({ is: 'person_spoke' });
      if (event.type !== 'agent_end' || ledger.allowed.length === 0) return;
      void core.bus.tell({ type: 'notice', level: 'info', topic: 'permissions', text: listed(ledger.allowed) });
      tell({ is: 'turn_ended' });
    },
  };
}

/** What a person wrote. What comes along with it, files and words of hooks, stands in parts behind. */
function typedWords(message: Message): readonly string[] {
  if (!isTypedByPerson(message)) return [];
  const first = message.blocks.find((block) => block.type === 'text');
  return first === undefined ? [] : [first.text];
}

function listed(titles: readonly string[]): string {
  const counted = new Map(titles.map((title) => [title, titles.filter((other) => other === title).length]));
  const calls = [...counted].map(([title, times]) => (times === 1 ? title : `${title} (${times} times)`));
  return `Mode auto let ${titles.length === 1 ? 'a call' : `${titles.length} calls`} run: ${calls.join(' · ')}`;
}
