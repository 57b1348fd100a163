/** One hunk of a diff; line numbers are 1-based. */
export type DiffHunk = {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly DiffLine[];
  /** File of the hunk, in a diff of several files. */
  readonly path?: string;
};

/** A line of a diff. */
export type DiffLine = { readonly kind: 'add' | 'del' | 'same'; readonly text: string };

/** One entry of the task list. */
export type Todo = {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
  readonly activeForm?: string;
};

/** A multiple-choice question for the user. */
export type Question = {
  readonly question: string;
  /** Text of somebody else, which is shown as a quotation. */
  readonly quote?: string;
  readonly header?: string;
  readonly multiSelect: boolean;
  readonly options: readonly QuestionOption[];
};

/** One option of a question. `grade` marks a refusal, or a yes that also holds for later questions. */
export type QuestionOption = {
  readonly label: string;
  readonly description?: string;
  readonly grade?: 'no' | 'always';
};

/** The part of a tool result that is shown to the user, as data. `ui/display` has one component per kind. */
export type Display =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'diff';
      readonly path: string;
      readonly created: boolean;
      readonly hunks: readonly DiffHunk[];
      readonly added: number;
      readonly removed: number;
    }
  | { readonly kind: 'file'; readonly path: string; readonly lines: number; readonly partial: boolean }
  | { readonly kind: 'list'; readonly summary: string; readonly items: readonly string[]; readonly total: number }
  | {
      readonly kind: 'output';
      readonly command: string;
      readonly output: string;
      readonly exitCode: number | null;
      /** How the command ended, where there is no exit code. */
      readonly end?: string;
      readonly hiddenLines: number;
      readonly fullPath?: string;
    }
  | { readonly kind: 'todo'; readonly todos: readonly Todo[] }
  | { readonly kind: 'image'; readonly path: string; readonly mediaType: string; readonly bytes: number }
  | { readonly kind: 'plan'; readonly plan: string }
  | { readonly kind: 'question'; readonly questions: readonly Question[]; readonly answers: readonly string[] }
  | { readonly kind: 'agent'; readonly agentType: string; readonly summary: string; readonly calls: number };

/** The first lines of a script, and how many lines follow. */
export type ScriptStart = {
  readonly path: string;
  /** The entry of the file, such as a script of `package.json`. */
  readonly entry?: string;
  readonly lines: readonly string[];
  readonly moreLines: number;
};
