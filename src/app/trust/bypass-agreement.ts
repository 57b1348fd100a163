import { join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import type { CliRunOptions } from '../../contracts/frontend/cli-run-options.ts';
import type { FirstRunAnswers, FirstRunQuestions } from '../../contracts/frontend/first-run.ts';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { readRegularFile } from '../../lib/files/read-regular-file.ts';
import { findBypassProblem, resolveInitialMode } from '../../permissions/initial-mode.ts';
import { readSettings } from '../read-settings.ts';

/** Returns whether bypassing permissions still has to be confirmed. A disallowed bypass is rejected later. */
export async function findBypassQuestion(
  run: CliRunOptions,
  environment: Environment,
): Promise<FirstRunQuestions['bypass']> {
  const isFlagged = run.skipPermissions !== undefined || run.permissionMode === 'bypassPermissions';
  if (!isFlagged && !(await mentionsBypass(environment))) return 'settled';
  if ((await openAgreementStore(environment).read()).value !== undefined) return 'settled';
  const { merged } = await readSettings(run, environment, false);
  const isAllowed =
    resolveInitialMode(run, merged, environment).ok && findBypassProblem(run, merged, environment) === undefined;
  return isAllowed ? 'unconfirmed' : 'settled';
}

/** Returns whether the settings of the user may bypass permissions, without the cost of reading all settings. */
async function mentionsBypass({ ouroHome }: Environment): Promise<boolean> {
  const text = await readRegularFile(join(ouroHome, 'settings.json')).catch(() => undefined);
  return text?.includes('bypassPermissions') === true;
}

/** Stores a yes; anything else takes the bypass from the run. */
export async function settleBypass(
  answer: FirstRunAnswers['bypass'],
  run: CliRunOptions,
  environment: Environment,
): Promise<CliRunOptions> {
  if (answer !== 'yes') {
    const { skipPermissions: _, ...rest } = run;
    return { ...rest, permissionMode: 'default' };
  }
  await openAgreementStore(environment).change(() => [
    { path: ['v'], value: 1 },
    { path: ['at'], value: new Date().toISOString() },
  ]);
  return run;
}

const agreementSchema = z.object({ at: z.string() });

function openAgreementStore({ ouroHome }: Environment) {
  return openJsonStore<z.output<typeof agreementSchema> | undefined>(join(ouroHome, 'bypass-agreed.json'), {
    empty: undefined,
    entryDepth: 1,
    parse: (json) => agreementSchema.safeParse(json),
  });
}
