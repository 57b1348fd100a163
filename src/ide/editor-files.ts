import { z } from 'zod';
import { parseFileUri } from '../lib/files/file-uri.ts';
import { ABSOLUTE_PATH_PATTERN } from '../lib/files/path-style.ts';
import { parseJson } from '../lib/json.ts';
import {
  formatDiagnosticLines,
  formatDiagnosticsReport,
  formatDiagnosticsSummary,
  type NewFileDiagnostics,
} from '../lsp/diagnostics-tracker.ts';
import {
  countEqualDiagnostics,
  type Diagnostic,
  type DiagnosticCounts,
  findNewDiagnostics,
} from '../lsp/parse-diagnostics.ts';
import type { EditorLink } from './editor-link.ts';

type Link = Pick<EditorLink, 'hasTool' | 'callTool'>;

const QUERY_TIMEOUT_MS = 1_000;

/** Returns whether a file has unsaved changes in the editor; false when the editor does not say. */
export async function hasUnsavedChanges(link: Link, path: string, signal: AbortSignal): Promise<boolean> {
  if (!link.hasTool('checkDocumentDirty')) return false;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(QUERY_TIMEOUT_MS)]);
  const [text = ''] = await link.callTool('checkDocumentDirty', { filePath: path }, limit).catch(() => []);
  return dirtySchema.safeParse(parseJson(text)).data?.isDirty === true;
}

const dirtySchema = z.object({ isDirty: z.boolean() });

/** The diagnostics of the editor since the first edit of one conversation or sub-agent. */
export type EditorDiagnostics = ReturnType<typeof createEditorDiagnosticsTracker>;

/** The editor whose diagnostics are compared, and what a report says about them. */
export type EditorDiagnosticsDeps = {
  readonly link: Link;
  readonly getName: () => string;
  readonly formatPath: (path: string) => string;
  /** Returns whether the model may learn about a file. */
  readonly isReadable: (path: string) => boolean;
  /** Gets a one-line summary for the user. */
  readonly notify: (message: string) => void;
  readonly waitLimits?: { readonly maxMs: number; readonly pollMs: number };
};

/** Time in which an editor has noticed the change of a file and checked it. */
const DEFAULT_LIMITS = { maxMs: 1_200, pollMs: 150 };

/** Creates the comparison of the editor's diagnostics before and after edits. */
export function createEditorDiagnosticsTracker(deps: EditorDiagnosticsDeps) {
  const { link, getName, formatPath, isReadable, notify, waitLimits = DEFAULT_LIMITS } = deps;
  let known: ReadonlyMap<string, DiagnosticCounts> | undefined;
  let hasUnreportedWrite = false;

  async function query(signal: AbortSignal): Promise<readonly EditorProblems[] | undefined> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(QUERY_TIMEOUT_MS)]);
    const texts = await link.callTool('getDiagnostics', {}, limit).catch(() => undefined);
    if (texts === undefined) return undefined;
    return parseEditorDiagnostics(texts.join('')).filter(({ path }) => isReadable(path));
  }

  const findNew = (files: readonly EditorProblems[]): readonly NewFileDiagnostics[] =>
    files.flatMap(({ path, problems }) => {
      const fresh = findNewDiagnostics(known?.get(path) ?? new Map(), problems);
      return fresh.length === 0 ? [] : [{ path: formatPath(path), problems: fresh }];
    });

  return {
    /** Remembers the present diagnostics before the first edit. */
    async recordBefore(signal: AbortSignal) {
      if (known !== undefined || !link.hasTool('getDiagnostics')) return;
      const files = await query(signal);
      if (files !== undefined) known = countByPath(files);
    },
    recordWrite() {
      hasUnreportedWrite = true;
    },
    /** Takes the messages for the model about new diagnostics; each is reported once. */
    async takeNewDiagnostics(signal: AbortSignal): Promise<readonly string[]> {
      if (known === undefined || !link.hasTool('getDiagnostics')) return [];
      const endMs = performance.now() + (hasUnreportedWrite ? waitLimits.maxMs : 0);
      hasUnreportedWrite = false;
      let files = await query(signal);
      while (files !== undefined && findNew(files).length === 0 && performance.now() < endMs && !signal.aborted) {
        await waitMs(waitLimits.pollMs);
        files = await query(signal);
      }
      if (files === undefined) return [];
      const fresh = findNew(files);
      known = countByPath(files);
      if (fresh.length === 0) return [];
      notify(formatDiagnosticsSummary(getName(), fresh));
      return [formatDiagnosticsReport(getName(), fresh)];
    },
    /** Lists the present diagnostics of a file or of all files; throws when the editor does not answer. */
    async listDiagnostics(path: string | undefined, signal: AbortSignal): Promise<readonly string[]> {
      const files = await query(signal);
      if (files === undefined) throw new Error(`${getName()} did not answer`);
      const shown = files.filter((file) => file.problems.length > 0 && (path === undefined || file.path === path));
      return formatDiagnosticLines(shown.map((file) => ({ path: formatPath(file.path), problems: file.problems })));
    },
  };
}

const waitMs = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

type EditorProblems = { readonly path: string; readonly problems: readonly Diagnostic[] };

const countByPath = (files: readonly EditorProblems[]) =>
  new Map(files.map(({ path, problems }) => [path, countEqualDiagnostics(problems)]));

const MAX_FILES = 1_000;
const MAX_PROBLEMS = 1_000;

const severity = z.lazy(() => z.union([z.enum(['Error', 'Warning']), z.literal(1), z.literal(2)]));
const problemSchema = z.lazy(() =>
  z.object({
    message: z.string(),
    severity,
    range: z.object({ start: z.object({ line: z.number(), character: z.number() }) }),
    source: z.string().nullish(),
    code: z.union([z.string(), z.number()]).nullish().catch(undefined),
  }),
);
const filesSchema = z.lazy(() => z.array(z.object({ uri: z.string(), diagnostics: z.array(z.json()) })));

/** Parses the result of `getDiagnostics`; hints, and files that are not local, are dropped. */
function parseEditorDiagnostics(text: string): readonly EditorProblems[] {
  const files = filesSchema.safeParse(parseJson(text)).data ?? [];
  return files.slice(0, MAX_FILES).flatMap(({ uri, diagnostics }) => {
    const path = ABSOLUTE_PATH_PATTERN.test(uri) ? uri : parseFileUri(uri);
    return path === undefined ? [] : [{ path, problems: diagnostics.slice(0, MAX_PROBLEMS).flatMap(parseProblem) }];
  });
}

function parseProblem(value: unknown): readonly Diagnostic[] {
  const parsed = problemSchema.safeParse(value);
  if (!parsed.success) return [];
  const { message, severity: level, range, source, code } = parsed.data;
  const kind = level === 'Error' || level === 1 ? 'error' : 'warning';
  const name = [source, code].filter((part) => part !== undefined && part !== null).join(' ');
  return [{ line: range.start.line + 1, column: range.start.character + 1, kind, message, code: name }];
}

/** Opens a file in the editor. */
export async function openInEditor(link: Link, path: string): Promise<void> {
  const input = { filePath: path, preview: false, startText: '', endText: '', makeFrontmost: true };
  await link.callTool('openFile', input, AbortSignal.timeout(QUERY_TIMEOUT_MS * 5));
}
