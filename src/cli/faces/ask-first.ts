import { findLocalModels, modelsOfServer, openFirstRun, settleFirstRun } from '../../app/start/first-run.ts';
import { DEMO_PROMPT, type FirstRunAnswer, type FirstRunQuestion } from '../../contracts/face/first-run.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { FirstRunParts } from '../../ui/first-run/show-first-run.ts';
import type { Io } from '../io.ts';

/** How the screen begins: what runs, what is said at once, and what was typed meanwhile. */
export type Beginning = { readonly run: RunOptions; readonly prompt: string | undefined; readonly typed: string };

/** Settles trust and the way to a model before anything of the folder is read; `left` when the person went away. */
export async function askFirst(
  run: RunOptions,
  prompt: string | undefined,
  io: Io,
  look: FirstRunParts['look'],
): Promise<Beginning | 'left'> {
  let first = await openFirstRun(run, io.environment);
  let typed = '';
  while (first.state === 'asking') {
    const { question } = first;
    const answer = await ask(question, look);
    if (answer === 'leave') return 'left';
    typed = answer.typed;
    const isOfferAnswered = question.offer !== undefined && answer.takeOver !== 'open';
    if (isOfferAnswered) await takeOver(question.offer.from, answer.takeOver, io);
    first = await settleFirstRun(
      isOfferAnswered ? { ...question, offer: undefined } : question,
      answer,
      run,
      io.environment,
    );
  }
  return beginning(first.run, prompt, typed);
}

async function ask(question: FirstRunQuestion, look: FirstRunParts['look']): Promise<FirstRunAnswer | 'leave'> {
  const { showFirstRun } = await import('../../ui/first-run/show-first-run.ts');
  const screen = showFirstRun(question, {
    out: process.stdout,
    in: process.stdin,
    look,
    findLocal: findLocalModels,
    modelsOf: modelsOfServer,
    now: () => performance.now(),
  });
  const restore = () => screen.close();
  process.once('exit', restore);
  const answer = await screen.answered;
  process.off('exit', restore);
  screen.close();
  return answer;
}

async function takeOver(from: string, answer: 'yes' | 'no', { environment, stderr }: Io): Promise<void> {
  const { settleOffer } = await import('../../app/start/take-over.ts');
  for (const line of await settleOffer(answer, from, environment.ouroHome)) stderr.write(`${line}\r\n`);
}

/** The tour begins by itself: nobody has to guess what could be said. */
function beginning(run: RunOptions, prompt: string | undefined, typed: string): Beginning {
  const isTour = run.model === 'demo' && run.session.kind === 'new';
  return { run, prompt: isTour ? (prompt ?? DEMO_PROMPT) : prompt, typed };
}
