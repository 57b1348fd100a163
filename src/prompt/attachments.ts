import type { Todo } from '../contracts/display.ts';
import type { PermissionMode } from '../contracts/permission.ts';
import { oneLine } from '../lib/text/one-line.ts';
import { type Answering, answeringNews, styleName } from './answering.ts';
import { type Catalog, catalogChanges } from './catalog-changes.ts';
import { type MemoryFile, renderMemoryFile } from './memory/memory-text.ts';
import { modeWords } from './mode-words.ts';
import { reminder } from './reminder.ts';

/** A file that no longer reads as the model saw it. */
export type FileChange = {
  readonly path: string;
  /** Distinguishes this state of the file from later ones. */
  readonly version: string;
  readonly kind: 'changed' | 'deleted';
  /** A short diff, when there is one worth showing. */
  readonly diff?: string;
};

/** Where news comes from; every part answers with how things stand now. */
export type AttachmentParts = {
  readonly changedFiles: () => Promise<readonly FileChange[]>;
  /** Paths that calls have read or edited since the last look. */
  readonly touchedPaths: () => readonly string[];
  readonly memory: {
    touch(paths: readonly string[]): Promise<readonly MemoryFile[]>;
    changed(): Promise<readonly MemoryFile[]>;
    retell(): void;
  };
  readonly todos: () => readonly Todo[];
  readonly date: () => string;
  /** Absent where there is no repository. */
  readonly branch?: () => string | undefined;
  readonly mode: () => PermissionMode;
  readonly answering: () => Answering;
  readonly catalog: () => Catalog;
  /** News of background shells and sub-agents, each handed over once. */
  readonly backgroundNews: () => readonly string[];
};

/** What the model has been told already: kept with the session, so that a resume does not repeat it. */
export type Told = {
  readonly date: string;
  readonly branch?: string | undefined;
  readonly mode: PermissionMode;
  readonly language?: string | undefined;
  /** The name of the output style. */
  readonly style?: string | undefined;
  readonly catalog: Catalog;
};

const QUIET_TURNS = 10;
const MAX_FILES = 20;
const MAX_DIFF_CHARS = 4_000;

/** Everything that changed since the model last looked, each thing told once. Nothing that was sent is ever rewritten. */
export function createAttachments(
  parts: AttachmentParts,
  before?: Told,
): {
  /** The system prompt has just been rendered: what stands in it is not news. Otherwise the first `collect` is the beginning. */
  begin(): void;
  collect(): Promise<readonly string[]>;
  /** What was told has left the conversation with a compaction: whatever still differs from the prompt is told again. */
  retell(): void;
  /** A new beginning: nothing was told yet. */
  forget(): void;
  told(): Told | undefined;
} {
  const now = (): Told => {
    const branch = parts.branch?.();
    const answering = parts.answering();
    return {
      date: parts.date(),
      mode: parts.mode(),
      style: styleName(answering),
      catalog: parts.catalog(),
      ...(answering.language === undefined ? {} : { language: answering.language }),
      ...(branch === undefined ? {} : { branch }),
    };
  };
  const filesTold = new Map<string, string>();
  let told = before;
  // The mode is never part of the prompt, so a resumed conversation that was compacted hears of it again.
  let first = before && beginning(before);
  let todosSeen = '';
  let quietTurns = 0;

  const fileNews = async (): Promise<readonly string[]> => {
    const fresh = (await parts.changedFiles()).filter(({ path, version }) => filesTold.get(path) !== version);
    for (const { path, version } of fresh) filesTold.set(path, version);
    const hidden = fresh.length - MAX_FILES;
    const more = hidden > 0 ? [`And ${hidden} more files you have read were changed.`] : [];
    return [...fresh.slice(0, MAX_FILES).map(fileWords), ...more];
  };

  const memoryNews = async (): Promise<readonly string[]> => {
    const brought = await parts.memory.touch(parts.touchedPaths());
    const changed = await parts.memory.changed();
    return [
      ...brought.map((file) => `Instructions for the files you touched:\n\n${renderMemoryFile(file)}`),
      ...changed.map((file) =>
        file.text === ''
          ? `The instructions in ${file.path} are gone; they no longer apply.`
          : `These instructions were changed; this is how they read now:\n\n${renderMemoryFile(file)}`,
      ),
    ];
  };

  const todoNews = (): readonly string[] => {
    const todos = parts.todos();
    const seen = JSON.stringify(todos);
    quietTurns = seen === todosSeen ? quietTurns + 1 : 0;
    todosSeen = seen;
    if (quietTurns < QUIET_TURNS || todos.every((todo) => todo.status === 'completed')) return [];
    quietTurns = 0;
    const lines = todos.map((todo) => `- [${todo.status}] ${todo.content}`);
    return [
      `The to-do list has not moved for a while. If it is no longer true, correct it with TodoWrite:\n${lines.join('\n')}`,
    ];
  };

  const standing = (): readonly string[] => {
    const current = now();
    const previous = told ?? beginning(current);
    first ??= previous;
    told = current;
    return [
      ...(current.date === previous.date ? [] : [`The date is now ${current.date}.`]),
      ...branchNews(previous.branch, current.branch),
      ...(current.mode === previous.mode ? [] : [modeWords(current.mode)]),
      ...answeringNews(previous, parts.answering()),
      ...catalogChanges(previous.catalog, current.catalog),
    ];
  };

  return {
    begin: () => {
      told ??= beginning(now());
      first ??= told;
    },
    collect: async () => {
      const news = [
        ...standing(),
        ...(await fileNews()),
        ...(await memoryNews()),
        ...todoNews(),
        ...parts.backgroundNews(),
      ];
      return news.map(reminder);
    },
    retell: () => {
      told = first;
      parts.memory.retell();
    },
    forget: () => {
      told = undefined;
      first = undefined;
    },
    told: () => told,
  };
}

/** Somebody else switched it: files may read differently now. */
function branchNews(before: string | undefined, now: string | undefined): readonly string[] {
  return now === undefined || before === undefined || now === before ? [] : [`The git branch is now ${oneLine(now)}.`];
}

/** A conversation begins in the ordinary mode; any other one has to be told. */
function beginning(now: Told): Told {
  return { ...now, mode: 'default' };
}

function fileWords({ path, kind, diff }: FileChange): string {
  if (kind === 'deleted') return `${path} was deleted outside this conversation after you read it.`;
  const intro = `${path} was changed outside this conversation after you read it. Work from how it is now.`;
  if (diff === undefined || diff.trim() === '') return `${intro} Read it again before you edit it.`;
  if (diff.length > MAX_DIFF_CHARS) return `${intro} Much is different; read it again before you edit it.`;
  return `${intro} What is different:\n${diff}`;
}
