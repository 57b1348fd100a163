import type { ModelInfo } from '../../../contracts/model.ts';
import type { StreamTimeouts } from '../../stream/model-attempt.ts';

/** Settings common to all services with the Messages API. */
export type MessagesSettings = {
  readonly betas?: readonly string[];
  /** Called when the provider rejects context editing; from then on `infoOf` must not report `clearsResultsAt`. */
  readonly onRefusedEditing?: () => void;
  /** Returns the timeouts; called for each request. */
  readonly timeouts?: () => Partial<StreamTimeouts>;
  readonly fetch?: typeof fetch;
  /** Returns the facts about a model; by default the built-in ones. */
  readonly infoOf?: (model: string) => ModelInfo;
};
