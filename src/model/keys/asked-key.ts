import type { ModelFailure, StreamOptions } from '../../contracts/model.ts';
import { messageOf } from '../../lib/errors.ts';

/** The key of this one request, when somebody else keeps it: without it nothing is sent. */
export async function askedKey(getApiKey: StreamOptions['getApiKey']): Promise<string | undefined | ModelFailure> {
  try {
    return await getApiKey?.();
  } catch (thrown) {
    return { kind: 'auth', message: `The key could not be had: ${messageOf(thrown)}` };
  }
}
