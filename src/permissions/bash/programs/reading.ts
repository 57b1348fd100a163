import type { Argument } from '../words.ts';
import type { Opens } from './search-filters.ts';

/** What a read-only command would read; every path still has to pass on its own. */
export type ReadOnlyReading =
  | {
      readonly ok: true;
      readonly reads: readonly Argument[];
      /** Folders read to the bottom. */
      readonly searches: readonly Argument[];
      readonly follows: 'links' | 'none';
      /** Of a search: what it opens; all there is when left out. */
      readonly opens?: Opens;
      /** It is git, whose configuration names programs. */
      readonly git?: 'config';
      /** Files that make it run something else. */
      readonly unless?: readonly NearFile[];
    }
  | { readonly ok: false; readonly why: string };

/** A file in the working folder or one above it, whatever it holds or with this text in it. */
export type NearFile = { readonly name: string; readonly holding?: RegExp };

/** The working folder, for commands that read it when no path is given. */
export const HERE: Argument = { text: '.', kind: 'literal', prefix: '.', home: 'none' };

export const NOTHING_READ: Extract<ReadOnlyReading, { ok: true }> = {
  ok: true,
  reads: [],
  searches: [],
  follows: 'none',
};

export function refused(why: string): ReadOnlyReading {
  return { ok: false, why };
}
