import type { Sources } from './architecture-rules.ts';

/** What cleans text, and what puts sequences of ours around clean text: nobody else says that a text is clean. */
const CLEANING = [
  'lib/printable.ts',
  'lib/text/sanitize.ts',
  'ui/terminal/',
  'ui/theme/paint.ts',
  'ui/text/render-lines.ts',
  'ui/effects/copy-text.ts',
  'app/start/doctor.ts',
];
/** The door to the terminal, and three that only write words of their own. */
const WRITING = ['cli/io.ts', 'cli/start.ts', 'cli/main.ts', 'cli/faces/repl.ts'];
const PAINTED = 'ui/text/Painted.tsx';

/** Ways to a terminal that go past what cleans text. */
export function doorViolations(sources: Sources): readonly string[] {
  return Object.entries(sources).flatMap(([path, text]) => [
    ...(/\basPrintable\b/.test(text) && !CLEANING.some((place) => path.startsWith(place))
      ? [`${path}: says that its text is clean; sanitize it, or paint it`]
      : []),
    ...(/\bprocess\.std(?:out|err)\.write\b/.test(text) && !WRITING.includes(path)
      ? [`${path}: writes past cli/io.ts, which cleans what a terminal gets`]
      : []),
    ...(/import \{[^}]*\bText\b[^}]*\} from 'ink'/.test(text) && path !== PAINTED
      ? [`${path}: draws text that nobody has painted; ${PAINTED} takes what is fit to be printed`]
      : []),
  ]);
}
