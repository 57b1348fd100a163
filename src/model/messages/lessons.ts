import type { JsonObject } from '../../contracts/json.ts';
import type { ModelFailure } from '../../contracts/model.ts';
import type { MessagesService, MessagesSettings } from './messages-service.ts';
import { type OptionalField, unknownField, withoutFields } from './optional-fields.ts';

/** Each is learnt once for a request: a place that still refuses is believed. */
export type Lesson = 'key' | 'editing' | 'betas' | OptionalField;

/** What a place has taught by refusing it, and what is left of a request then. */
export function createLessons(
  { renew, takesBeta = () => true }: MessagesService,
  { onRefusedEditing }: Pick<MessagesSettings, 'onRefusedEditing'>,
) {
  /** Betas are refused by their names, which no list knows better than the place itself. */
  let betasAre: 'sent' | 'left out' = 'sent';
  const unknown = new Set<OptionalField>();
  return {
    betas: (asked: readonly string[]): readonly string[] => (betasAre === 'sent' ? asked.filter(takesBeta) : []),
    body: (body: JsonObject): JsonObject => withoutFields(body, unknown),
    /** What a refusal teaches: who we are, what the place does not do, which betas and fields it does not know. */
    async learn(response: Response | ModelFailure): Promise<Lesson | undefined> {
      if (response instanceof Response) return undefined;
      const { kind, message } = response;
      if (kind === 'auth') return (await renew?.(response)) ? 'key' : undefined;
      if (kind !== 'invalid') return undefined;
      if (onRefusedEditing && /context.management/i.test(message)) {
        onRefusedEditing();
        return 'editing';
      }
      const field = unknownField(message);
      if (field !== undefined) {
        unknown.add(field);
        return field;
      }
      if (!/\bbetas?\b|anthropic.beta/i.test(message)) return undefined;
      betasAre = 'left out';
      return 'betas';
    },
  };
}
