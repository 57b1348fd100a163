import type { ModelEvent, ModelPort } from '../contracts/model.ts';
import type { Exchange } from './replay.ts';
import { requestBytes } from './wire/to-wire.ts';

/** The same port, telling each finished exchange, as JSON can keep it. An exchange whose reader left early is not told. */
export function withRecord(port: ModelPort, tell: (exchange: Exchange) => void): ModelPort {
  return {
    ...port,
    async *stream(request, options, signal) {
      const events: ModelEvent[] = [];
      const stream = port.stream(request, options, signal);
      try {
        while (true) {
          const next = await stream.next();
          if (next.done) {
            tell({ request: requestBytes(request), events, outcome: next.value });
            return next.value;
          }
          events.push(next.value);
          yield next.value;
        }
      } finally {
        await stream.return({ ok: false, failure: { kind: 'aborted', message: 'Interrupted.' } });
      }
    },
  };
}
