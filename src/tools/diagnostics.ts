import { z } from 'zod';
import { type Tool, ToolFailure } from '../contracts/tool.ts';
import { getErrorPhrase } from '../lib/errors.ts';
import { formatCount } from '../lib/text/format.ts';
import { buildTool } from './definition/build-tool.ts';
import { type BuiltInToolTraits, defineToolTraits, FILE_PATH_SYNONYMS } from './input/call-forms.ts';
import { createPathToolFacts, resolveToolPath } from './tool-facts.ts';

const PROMPT = `Lists the present errors and warnings of a file, as the editor or the language server reports them; without file_path those of all files that they have checked so far. New ones after your edits are told by themselves.`;

const input = z.strictObject({ file_path: z.string().optional() });

/** The traits of the Diagnostics tool. */
export const diagnosticsTraits: BuiltInToolTraits = defineToolTraits({
  name: 'Diagnostics',
  facts: (call, cwd) =>
    call.file_path === undefined
      ? { kind: 'read', reads: [cwd], searches: [cwd] }
      : createPathToolFacts('read', 'file_path')(call, cwd),
  mainInput: 'file_path',
  result: 'repeatable',
  forms: {
    example: 'Diagnostics{file_path:"src/a.ts"}',
    names: ['get_diagnostics', 'getDiagnostics', 'get_errors', 'read_lints', 'problems'],
    synonyms: { file_path: FILE_PATH_SYNONYMS },
    ignored: ['severity'],
  },
});

const TIMEOUT_MS = 30_000;

/** Creates the Diagnostics tool, which lists the errors and warnings of the editor or of language servers. */
export function createDiagnosticsTool({
  listDiagnostics,
  home,
}: {
  readonly listDiagnostics: (path: string | undefined, signal: AbortSignal) => Promise<readonly string[]>;
  readonly home: string;
}): Tool {
  return buildTool({
    ...diagnosticsTraits,
    deferred: true,
    prompt: PROMPT,
    input,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    title: ({ file_path = '' }) => `Diagnostics ${file_path}`.trimEnd(),
    async call({ file_path }, { cwd, signal }) {
      const path = file_path === undefined ? undefined : resolveToolPath(file_path, { cwd, home });
      const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const lines = await listDiagnostics(path, limited).catch((thrown: unknown) => {
        throw new ToolFailure(`There are no diagnostics: ${getErrorPhrase(thrown)}. Run the project's own checks.`);
      });
      const total = lines.length;
      const display = { kind: 'list', summary: formatCount(total, 'problem'), items: lines, total } as const;
      return { content: total === 0 ? 'No errors or warnings.' : lines.join('\n'), display };
    },
  });
}
