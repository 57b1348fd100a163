import type { Rule } from './violations.ts';

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
const WRITERS = ['command/process-io.ts', 'cli/run-cli.ts', 'cli/main.ts', 'cli/modes/interactive/run-interactive.ts'];
const ROWS = 'ui/text/Rows.tsx';

/** The rules by which no unsanitized text reaches the terminal. */
export const TERMINAL_OUTPUT_RULES: Readonly<Record<string, Rule>> = {
  'only sanitizers mark text as printable': (sources) =>
    Object.entries(sources)
      .filter(
        ([path, text]) => /\bmarkAsPrintable\b/.test(text) && !SANITIZERS.some((prefix) => path.startsWith(prefix)),
      )
      .map(([path]) => `${path}: marks text as printable; sanitize or paint it instead`),
  'only what sanitizes writes to the terminal': (sources) =>
    Object.entries(sources)
      .filter(([path, text]) => /\bprocess\.std(?:out|err)\.write\b/.test(text) && !WRITERS.includes(path))
      .map(([path]) => `${path}: writes to the terminal; only command/process-io.ts may, because it sanitizes`),
  'one component renders text': (sources) =>
    Object.entries(sources)
      .filter(([path, text]) => /import \{[^}]*\bText\b[^}]*\} from 'ink'/.test(text) && path !== ROWS)
      .map(([path]) => `${path}: renders Text of Ink; use ${ROWS}, which accepts only printable text`),
};
