import {
  findLocalModelServers,
  listServerModels,
  loadFirstRunQuestions,
  saveFirstRunAnswers,
  saveTrustAnswer,
} from '../../../app/setup/first-run.ts';
import type { CliRunOptions } from '../../../contracts/frontend/cli-run-options.ts';
import {
  DEMO_PROMPT,
  type FirstRunAnswers,
  type FirstRunExit,
  type FirstRunQuestions,
} from '../../../contracts/frontend/first-run.ts';
import { recognizeKeyProvider } from '../../../model/registry/key-provider.ts';
import type { FirstRunDeps } from '../../../ui/widgets/first-run/show-first-run.ts';
import type { ProcessIo } from '../../process-io.ts';

/** The input of an interactive session: the run options, the first prompt, and text typed during startup. */
export type InteractiveStart = {
  readonly run: CliRunOptions;
  readonly prompt: string | undefined;
  readonly typed: string;
  /** The keys since the last answer; absent if there was no question. */
  readonly laterKeys?: LaterKeys;
};

/** Keys that are pressed between the last answer and the screen. */
export type LaterKeys = {
  /** Keys before this time belong to the last answer. */
  readonly ignoredUntilMs: number;
  /** Gives what was typed back to the terminal input, without the rest of a word that was an answer. */
  readonly handOver: () => void;
};

/** The terminal for the questions, and a callback before it is used. */
type QuestionScreen = Pick<FirstRunDeps, 'out' | 'rendering'> & { readonly beforeQuestions: () => void };

/** Asks for trust and for a model before anything of the folder is read. Returns `left` when the user quits instead. */
export async function askFirstRunQuestions(
  run: CliRunOptions,
  prompt: string | undefined,
  io: ProcessIo,
  screen: QuestionScreen,
): Promise<InteractiveStart | 'left'> {
  let first = await loadFirstRunQuestions(run, io.environment);
  let typed = '';
  let laterKeys: LaterKeys | undefined;
  while (first.state === 'asking') {
    const { question } = first;
    screen.beforeQuestions();
    laterKeys?.handOver();
    const answer = await ask(question, screen);
    if ('exits' in answer) {
      await saveTrustAnswer(question, answer, io.environment);
      return 'left';
    }
    if (screen.rendering !== 'lines') laterKeys = await collectLaterKeys();
    typed = answer.typed;
    const isOfferAnswered = question.offer !== undefined && answer.takeOver !== 'open';
    if (isOfferAnswered) await settleImport(question.offer.from, answer.takeOver, io);
    first = await saveFirstRunAnswers(
      isOfferAnswered ? { ...question, offer: undefined } : question,
      answer,
      run,
      io.environment,
    );
  }
  const input = createStartInput(first.run, prompt, typed);
  return laterKeys === undefined ? input : { ...input, laterKeys };
}

/** Time after an answer in which keys are the rest of a word that was typed for it, such as `yes`. */
const WORD_MS = 500;

/** Collects keys until there is a screen: the terminal would echo them, and hold them back to the end of a line. */
async function collectLaterKeys(): Promise<LaterKeys> {
  const { isStrayKeys } = await import('../../../ui/widgets/first-run/first-run-keys.ts');
  const ignoredUntilMs = Date.now() + WORD_MS;
  let received = '';
  const onData = (chunk: string) => {
    const isRest = Date.now() < ignoredUntilMs && /^[\p{L}\p{N}\r]+$/u.test(chunk);
    if (!isRest) received += chunk;
  };
  const { stdin } = process;
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  stdin.on('data', onData);
  stdin.resume();
  return {
    ignoredUntilMs,
    handOver() {
      stdin.off('data', onData);
      stdin.pause();
      if (!isStrayKeys(received)) stdin.unshift(received);
      received = '';
    },
  };
}

async function ask(
  question: FirstRunQuestions,
  { out, rendering }: QuestionScreen,
): Promise<FirstRunAnswers | FirstRunExit> {
  const { showFirstRun } = await import('../../../ui/widgets/first-run/show-first-run.ts');
  const screen = showFirstRun(question, {
    out,
    in: process.stdin,
    rendering,
    findLocalServers: findLocalModelServers,
    listModels: listServerModels,
    recognizeKey: recognizeKeyProvider,
    now: () => performance.now(),
  });
  const restore = () => screen.close();
  process.once('exit', restore);
  const answer = await screen.answer;
  process.off('exit', restore);
  screen.close();
  return answer;
}

async function settleImport(from: string, answer: 'yes' | 'no', { environment, stderr }: ProcessIo): Promise<void> {
  const { answerImportOffer } = await import('../../../app/setup/import-claude-files.ts');
  for (const line of await answerImportOffer(answer, from, environment.ouroHome)) stderr.write(`${line}\r\n`);
}

/** A new demo session starts with the demo prompt. */
function createStartInput(run: CliRunOptions, prompt: string | undefined, typed: string): InteractiveStart {
  const isNewDemo = run.model === 'demo' && run.session.kind === 'new';
  return { run, prompt: isNewDemo ? (prompt ?? DEMO_PROMPT) : prompt, typed };
}
