import { wireSyntheticMessage } from '../../contracts/face/wire.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { FailureKind } from '../../contracts/model.ts';

/** An API failure as hosts expect it: a reply of nobody, with the error's name. */
export function syntheticReply(kind: FailureKind, words: string, parent: JsonObject): JsonObject {
  return {
    type: 'assistant',
    message: wireSyntheticMessage(words),
    ...parent,
    error: errorName(kind),
  };
}

/** The names hosts know for what went wrong. */
export function errorName(kind: FailureKind): string {
  switch (kind) {
    case 'auth':
      return 'authentication_failed';
    case 'rate_limited':
      return 'rate_limit';
    case 'not_found':
      return 'model_not_found';
    case 'invalid':
    case 'too_long':
    case 'media_too_large':
      return 'invalid_request';
    case 'overloaded':
    case 'server':
      return 'server_error';
    default:
      return 'unknown';
  }
}
