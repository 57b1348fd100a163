import { globSteps } from '../../lib/patterns/glob.ts';
import { globTest } from '../../lib/patterns/linear-match.ts';

/** A glob in the manner of .gitignore: without a slash it means a name at any depth, with one a path from the root. */
export function compileGlob(glob: string): (relativePath: string) => boolean {
  const bare = glob.replace(/^(?:\.?\/)+/, '').replace(/\/$/, '');
  const anchored = glob.startsWith('/') || glob.startsWith('./') || bare.includes('/');
  const suffix = /^(?:\*\*\/)?\*(\.[\w.-]+)$/.exec(bare)?.[1];
  // The commonest kind needs no reading.
  if (suffix !== undefined && !glob.startsWith('/') && !glob.startsWith('./')) return (file) => file.endsWith(suffix);
  const steps = globSteps(bare, { braces: 'alternatives', doubleStar: 'star' });
  return globTest(anchored ? steps : [{ is: 'folders' }, ...steps]);
}
