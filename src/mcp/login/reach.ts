import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import { untrustedLine } from '../../lib/text/sanitize.ts';

/** How far a login reaches: what the server asked for so far, and what of that was given. */
export function openReach(base: () => readonly string[]) {
  let asked: readonly string[] = [];
  let got: readonly string[] = [];
  let kept: readonly string[] = [];
  const wanted = () => (asked.length > 0 ? asked : base());
  return {
    wanted,
    given() {
      got = wanted();
      kept = asked;
    },
    /** What cannot be had is not asked for again when the login is renewed. */
    refused(thrown: unknown): never {
      asked = kept;
      throw thrown;
    },
    /** Hears what a server wants besides; a refusal that no wider login would change is told as it is. */
    widen(response: Response): void {
      const { scope = '', error } = extractWWWAuthenticateParams(response);
      const more = scope.split(' ').filter((one) => one !== '');
      const isFurther = error === 'insufficient_scope' && more.some((one) => !got.includes(one));
      if (response.status === 403 && !isFurther) {
        const why = error === undefined ? '' : `, ${untrustedLine(error, 100)}`;
        throw new Error(`It refused (403${why}) what your identity provider vouched for.`);
      }
      asked = [...new Set([...(response.status === 403 ? wanted() : asked), ...more])];
    },
  };
}
