import type { BaseAnthropic } from '@anthropic-ai/sdk/client';
import type { JsonObject } from '../../contracts/json.ts';
import type { ModelFailure, ModelInfo } from '../../contracts/model.ts';
import type { Patience } from '../wire/attempt.ts';

/** A place where the Messages API is spoken, and how it is reached there. */
export type MessagesService = {
  readonly name: string;
  /** Scheme and host, for messages about them. */
  readonly address: (model: string) => string;
  /** The client that reaches a model, loaded when it is first needed; `key` replaces the credentials. */
  readonly client: (model: string, key?: string) => Promise<Pick<BaseAnthropic, 'post'>>;
  /** What a request says of who sends it. Rejects when that cannot be had. */
  readonly headers: (key?: string) => Promise<Readonly<Record<string, string | null>>>;
  /** The body as this place takes it. */
  readonly bodyFor?: (body: JsonObject) => JsonObject;
  /** A request was refused: was something done about it, so that it may be sent once more? */
  readonly renew?: (failure: ModelFailure) => Promise<boolean>;
  /** Whether a beta is known here; without it all are. */
  readonly takesBeta?: (beta: string) => boolean;
  readonly countsTokens: boolean;
};

/** What all places have in common. */
export type MessagesSettings = {
  readonly betas?: readonly string[];
  /** The provider does not leave out old results by itself: from now on `infoOf` says so. */
  readonly onRefusedEditing?: () => void;
  /** Asked at each request. */
  readonly patience?: () => Partial<Patience>;
  readonly fetch?: typeof fetch;
  readonly infoOf?: (model: string) => ModelInfo;
};

/** Longer than anybody waits: the clocks are ours, and may be set anew at any time. */
const LIBRARY_TIMEOUT_MS = 86_400_000;

/** What every client of the libraries is told: whatever they could do by themselves is done here. */
export function clientOptions({ fetch: send }: Pick<MessagesSettings, 'fetch'>) {
  return {
    maxRetries: 0,
    timeout: LIBRARY_TIMEOUT_MS,
    // Everything written to the terminal is ours.
    logLevel: 'off',
    openTelemetry: false,
    // A redirect would contact a host nobody configured.
    fetchOptions: { redirect: 'manual' },
    ...(send && { fetch: send }),
  } as const;
}
