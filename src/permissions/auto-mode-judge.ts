import type { Feature } from '../contracts/feature.ts';
import { isTypedByUser, type Message } from '../contracts/message.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import { askSmallModel } from '../model/ask-small-model.ts';
import { computeCostUsd } from '../model/pricing.ts';
import type { ModelRegistry } from '../model/registry/model-registry.ts';
import type { UsageMeter } from '../model/usage-meter.ts';
import {
  buildPermissionJudgePrompt,
  DEFAULT_JUDGE_LIMITS,
  EMPTY_JUDGE_LEDGER,
  findJudgeBudgetProblem,
  findSessionWrittenFiles,
  type JudgeLedgerEvent,
  PERMISSION_JUDGE_PROMPT,
  type PermissionJudgeInput,
  type PermissionJudgement,
  parsePermissionJudgement,
  reduceJudgeLedger,
} from './auto-mode.ts';

import type { PermissionGateDeps } from './permission-gate.ts';

const TIMEOUT_MS = 20_000;
const ANSWER_TOKENS = 120;
const MAX_USER_MESSAGES = 12;
/** Assumed cost of one answer if the price of the model is unknown. */
const UNKNOWN_PRICE_USD = 0.005;

/** The judge of auto mode, with its budget. */
export type AutoModeJudge = Feature & {
  readonly judgeCall: NonNullable<PermissionGateDeps['askJudge']>;
};

type JudgeDeps = {
  /** Messages of a resumed session. */
  readonly earlierMessages: readonly Message[];
  /** Returns the instructions of the user and the project. */
  readonly getInstructions: () => string;
  /** Returns the files that calls of this session wrote. */
  readonly listWrittenFiles: () => readonly string[];
};

type JudgeCore = Pick<SessionCore, 'settings' | 'bus'> & {
  readonly model: Pick<ModelRegistry, 'port' | 'infoOf'>;
  readonly smallModel: () => string | undefined;
  readonly meter: Pick<UsageMeter, 'addReply'>;
};

type PendingCall = Omit<PermissionJudgeInput, 'userMessages' | 'instructions' | 'files'>;

/** Creates the judge: the small model, which is shown messages of the user, but never tool results. */
export function createAutoModeJudge(core: JudgeCore, deps: JudgeDeps): AutoModeJudge {
  let typedMessages: readonly string[] = deps.earlierMessages.flatMap(listTypedText).slice(-MAX_USER_MESSAGES);
  let ledger = EMPTY_JUDGE_LEDGER;
  let previous: Promise<unknown> = Promise.resolve();
  const updateLedger = (event: JudgeLedgerEvent) => {
    ledger = reduceJudgeLedger(ledger, event);
  };

  async function askJudge(call: PendingCall, signal: AbortSignal): Promise<PermissionJudgement> {
    const { maxInARow = DEFAULT_JUDGE_LIMITS.inARow, maxUsd = DEFAULT_JUDGE_LIMITS.usd } =
      core.settings.current().autoMode ?? {};
    const exhausted = findJudgeBudgetProblem(ledger, { inARow: maxInARow, usd: maxUsd });
    if (exhausted !== undefined) return { verdict: 'ask', why: exhausted };
    const model = core.smallModel();
    if (model === undefined) return { verdict: 'ask', why: 'There is no small model that could decide about it.' };
    const files = findSessionWrittenFiles(call.facts, deps.listWrittenFiles());
    if (files === 'too long')
      return {
        verdict: 'ask',
        why: 'It names files that were written in this session, which are too long to check.',
      };
    const answer = await askSmallModel(
      core.model.port,
      {
        model,
        system: PERMISSION_JUDGE_PROMPT,
        prompt: buildPermissionJudgePrompt({
          ...call,
          files,
          userMessages: typedMessages,
          instructions: deps.getInstructions(),
        }),
        maxTokens: ANSWER_TOKENS,
        onUsage(usedModel, usage) {
          core.meter.addReply(usedModel, usage);
          updateLedger({
            is: 'paid',
            usd: computeCostUsd(usage, core.model.infoOf(usedModel).price) ?? UNKNOWN_PRICE_USD,
          });
        },
      },
      AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    );
    return parsePermissionJudgement(answer);
  }

  return {
    name: 'auto mode judge',
    // Sequentially, so that parallel calls cannot exceed the limits together.
    judgeCall(call, title, signal) {
      const next = previous.then(async () => {
        const judgement = await askJudge(call, signal);
        if (judgement.verdict === 'allow') updateLedger({ is: 'allowed', title });
        return judgement;
      });
      previous = next.catch(() => undefined);
      return next;
    },
    /** Follows user messages, answers and ended turns. */
    onEvent(event) {
      const typed = event.type === 'message_end' ? listTypedText(event.message) : [];
      const isAnswer = event.type === 'permission_answer' && event.by !== 'abort';
      if (typed.length > 0) typedMessages = [...typedMessages, ...typed].slice(-MAX_USER_MESSAGES);
      if (typed.length > 0 || isAnswer) updateLedger({ is: 'person_spoke' });
      if (event.type !== 'agent_end' || ledger.allowed.length === 0) return;
      void core.bus.emit({
        type: 'notice',
        level: 'info',
        topic: 'permissions',
        text: describeAllowed(ledger.allowed),
      });
      updateLedger({ is: 'turn_ended' });
    },
  };
}

/** Returns the text a user typed: the first text block; later ones hold attached files and hook output. */
function listTypedText(message: Message): readonly string[] {
  if (!isTypedByUser(message)) return [];
  const first = message.blocks.find((block) => block.type === 'text');
  return first === undefined ? [] : [first.text];
}

function describeAllowed(titles: readonly string[]): string {
  const counted = new Map(titles.map((title) => [title, titles.filter((other) => other === title).length]));
  const calls = [...counted].map(([title, times]) => (times === 1 ? title : `${title} (${times} times)`));
  return `Auto mode allowed ${titles.length === 1 ? 'a call' : `${titles.length} calls`}: ${calls.join(' · ')}`;
}
