import type { JsonObject } from '../../contracts/json.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import type { ModelAttempt } from './attempt.ts';
import { classifyResponse } from './failures.ts';
import { failureOfThrown } from './stream-failures.ts';
import { addressOf, readBody } from './stream-response.ts';

/** Posts a request that is to be answered by a stream. An answer that is none is a failure, as is none at all. */
export async function postJson(
  url: string,
  { headers, body, send }: { headers: Readonly<Record<string, string>>; body: JsonObject; send: typeof fetch },
  attempt: ModelAttempt,
): Promise<Response | ModelFailure> {
  try {
    const response = await send(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
      body: JSON.stringify(body),
      signal: attempt.signal,
      // A redirect would contact a host nobody configured.
      redirect: 'manual',
    });
    if (response.ok) return response;
    const { status, headers: answered } = response;
    const said = await readBody(response);
    return attempt.endedBy() ?? classifyResponse({ status, body: said, header: (name) => answered.get(name) });
  } catch (thrown) {
    return attempt.endedBy() ?? failureOfThrown(thrown, addressOf(url));
  }
}
