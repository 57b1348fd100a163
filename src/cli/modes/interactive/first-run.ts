import { loadFirstRunQuestions, saveFirstRunAnswers } from '../../../app/setup/first-run.ts';
import { saveTrustAnswer } from '../../../app/trust/trust-question.ts';
import type { ProcessIo } from '../../../command/process-io.ts';
import type { CliRunOptions } from '../../../contracts/frontend/cli-run-options.ts';
import type { FirstRunAnswers, FirstRunExit, FirstRunQuestions } from '../../../contracts/frontend/first-run.ts';
import { recognizeKeyProvider } from '../../../model/registry/key-provider.ts';
import { findLocalModelServers, listServerModels } from '../../../model/registry/server-discovery.ts';
import { storeImportAnswer } from '../../../settings/import-offer.ts';
import type { FirstRunDeps } from '../../../ui/widgets/first-run/show-first-run.ts';
import { DEMO_PROMPT } from '../demo-prompt.ts';

/** The input of an interactive session: the run options, the first prompt, and text typed during startup. */
export type InteractiveStart = {
  readonly run: CliRunOptions;
  readonly prompt: string | undefined;
  readonly typed: string;
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
  while (first.state === 'asking') {
    const { question } = first;
    screen.beforeQuestions();
    const answer = await ask(question, screen);
    if ('exits' in answer) {
      await saveTrustAnswer(question, answer, io.environment);
      return 'left';
    }
    typed = answer.typed;
    const isOfferAnswered = question.offer !== undefined && answer.takeOver !== 'open';
    if (isOfferAnswered) await settleImport(question.offer.from, answer.takeOver, run, io);
    first = await saveFirstRunAnswers(
      isOfferAnswered ? { ...question, offer: undefined } : question,
      answer,
      run,
      io.environment,
    );
  }
  return createStartInput(first.run, prompt, typed);
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

async function settleImport(
  from: string,
  answer: 'yes' | 'no',
  { loadImports }: CliRunOptions,
  { environment: { ouroHome }, stderr }: ProcessIo,
): Promise<void> {
  if (answer === 'no') return storeImportAnswer('no', from, ouroHome);
  const { importClaudeFiles } = await loadImports();
  for (const line of await importClaudeFiles(from, ouroHome)) stderr.write(`${line}\r\n`);
}

/** A new demo session starts with the demo prompt. */
function createStartInput(run: CliRunOptions, prompt: string | undefined, typed: string): InteractiveStart {
  const isNewDemo = run.model === 'demo' && run.session.kind === 'new';
  return { run, prompt: isNewDemo ? (prompt ?? DEMO_PROMPT) : prompt, typed };
}
