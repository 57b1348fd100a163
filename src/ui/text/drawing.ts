import type { Glyphs } from '../theme/glyphs.ts';
import type { Highlight } from './line.ts';

/** What everything that is drawn depends on besides what it shows. */
export type Drawing = {
  readonly width: number;
  readonly rows: number;
  readonly glyphs: Glyphs;
  readonly nowMs: number;
  /** The moving sign of this moment. */
  readonly spinner: string;
  readonly cwd: string;
  readonly links: 'clickable' | 'printed';
  /** Backticks stay where there is no colour to stand for them. */
  readonly marks: 'hidden' | 'shown';
  readonly highlight: Highlight | undefined;
  /** The time of day stands behind what was said. */
  readonly times?: 'shown' | 'off';
};

/** A path as it is read best: from the working directory, where it lies below it. */
export function shortPath(path: string, cwd: string): string {
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}

/** A title with every path below the working directory shortened. */
export function shortTitle(title: string, cwd: string): string {
  if (cwd.length < 2) return title;
  const here = ` in ${cwd}`;
  return (title.endsWith(here) ? title.slice(0, -here.length) : title).replaceAll(`${cwd}/`, '');
}
