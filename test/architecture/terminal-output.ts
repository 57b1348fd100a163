import type { Sources } from './violations.ts';

/** The files that sanitize text or add our own escape sequences to sanitized text; only they may mark text printable. */
const SANITIZERS = [
  'lib/printable.ts',
  'lib/text/sanitize.ts',
  'ui/terminal/',
  'ui/theme/paint.ts',
  'ui/text/render-lines.ts',
  'ui/effects/clipboard.ts',
  'app/setup/doctor.ts',
];
/** The file that writes to the terminal, and three that write only fixed texts. */
const WRITERS = ['cli/process-io.ts', 'cli/run-cli.ts', 'cli/main.ts', 'cli/modes/interactive/run-interactive.ts'];
const ROWS = 'ui/text/Rows.tsx';

/** Returns the places that could write unsanitized text to the terminal. */
export function terminalOutputViolations(sources: Sources): readonly string[] {
  return Object.entries(sources).flatMap(([path, text]) => [
    ...(/\bmarkAsPrintable\b/.test(text) && !SANITIZERS.some((prefix) => path.startsWith(prefix))
      ? [`${path}: marks text as printable; sanitize or paint it instead`]
      : []),
    ...(/\bprocess\.std(?:out|err)\.write\b/.test(text) && !WRITERS.includes(path)
      ? [`${path}: writes to the terminal; only cli/process-io.ts may, because it sanitizes`]
      : []),
    ...(/import \{[^}]*\bText\b[^}]*\} from 'ink'/.test(text) && path !== ROWS
      ? [`${path}: renders Text of Ink; use ${ROWS}, which accepts only printable text`]
      : []),
  ]);
}
