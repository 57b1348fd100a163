import type { ServedCaller } from '../../contracts/face/host.ts';
import type { PermissionRequest } from '../../contracts/permission.ts';
import type { ServedCall } from './offer.ts';

const YES = 'yes';
const NO = 'no';

/** Puts a call that no rule allows to the person at the client; where the client has none to ask, nobody is. */
export function askClient({ ask }: ServedCall): ServedCaller['ask'] {
  if (ask === undefined) return undefined;
  return async (request) => {
    const { action, content } = await ask({
      message: questionOf(request),
      requestedSchema: {
        type: 'object',
        properties: {
          answer: {
            type: 'string',
            title: 'Allow it?',
            oneOf: [
              { const: YES, title: 'Yes, once' },
              { const: NO, title: 'No' },
            ],
          },
        },
        required: ['answer'],
      },
    });
    if (action === 'accept' && content?.answer === YES) return { behavior: 'allow' };
    return { behavior: 'deny', message: 'The user of the calling program did not allow it.' };
  };
}

function questionOf({ toolName, title, facts, reasons, risks = [] }: PermissionRequest): string {
  const why = [...risks.map(({ text }) => text), ...reasons];
  const what = JSON.stringify(facts.input, null, 2);
  const shown = what.length > SHOWN_CHARS ? `${what.slice(0, SHOWN_CHARS).toWellFormed()}… (cut)` : what;
  return [`ouro: ${toolName} wants to do this: ${title}`, shown, ...why].join('\n');
}

const SHOWN_CHARS = 2_000;
