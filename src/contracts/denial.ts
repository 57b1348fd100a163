/** The sources of a denial. `unattended`: approval was needed, and it could not be requested. */
export const DENIAL_SOURCES = ['user', 'host', 'hook', 'rule', 'mode', 'unattended', 'interrupt', 'fault'] as const;

/** The structured reason of a denied call; frontends decide by it, never by the text for the model. */
export type CallDenial = {
  readonly by: (typeof DENIAL_SOURCES)[number];
  /** The words of whoever refused the call, or the rule, mode or fault that denied it. */
  readonly reason?: string;
};

/** A denial by somebody who was asked, or by a hook. */
export type Refusal = CallDenial & { readonly by: 'user' | 'host' | 'hook' };

/**
 * Describes a refusal for the model: its source, that nothing happened, and the words that came with it. `note`: facts
 * about the refusal in sentences.
 */
export function describeRefusal({ by, reason = '' }: Refusal, note?: string): string {
  const { subject, says, advice } = REFUSALS[by];
  const words = reason.trim();
  const facts = [`${subject} refused this call; nothing was run or changed.`, ...(note === undefined ? [] : [note])];
  return [...facts, words === '' ? advice : `${says}: ${words}`].join(' ');
}

/** The words about a refusal, by its source. */
export const REFUSALS = {
  user: { subject: 'The user', says: 'They say', advice: 'Ask what they would rather have, or go another way.' },
  host: {
    subject: 'The application that runs this session',
    says: 'It says',
    advice: 'Go another way, or tell the user what you need.',
  },
  hook: { subject: 'A hook', says: 'It says', advice: 'Go another way, or tell the user what you need.' },
} as const;
