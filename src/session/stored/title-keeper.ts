import type { RecordBody } from '../../contracts/session.ts';

export type Title = Extract<RecordBody, { type: 'title' }>;

/** Lists read only the ends of a file; once this much was written after a title, it is written again. */
const FAR_CHARS = 8_000;

/** Remembers what a session is called and says when its name has drifted too far from the end of the file. */
export function createTitleKeeper(known: Title | undefined): {
  hear(body: RecordBody, chars: number): void;
  due(): Title | undefined;
} {
  let title = known;
  let since = 0;
  return {
    hear(body, chars) {
      if (body.type === 'title') {
        title = body;
        since = 0;
      } else since += chars;
    },
    due: () => (since > FAR_CHARS ? title : undefined),
  };
}
