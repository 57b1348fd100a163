import type { Todo } from '../contracts/display.ts';
import type { PermissionMode } from '../contracts/permission.ts';
import type { Answering } from './answering.ts';
import type { Catalog } from './catalog-changes.ts';
import { type MemoryFile, renderMemoryFile } from './memory/memory-text.ts';
import {
  beginWith,
  type FileChange,
  factNews,
  fileNews,
  initialNews,
  type KnownFacts,
  todoNews,
} from './news-state.ts';
import { reminder } from './reminder.ts';

/** Where news comes from; every part answers with how things stand now. */
export type AttachmentParts = {
  readonly changedFiles: () => Promise<readonly FileChange[]>;
  /** Paths that calls have read or edited since the last look. */
  readonly touchedPaths: () => readonly string[];
  readonly memory: {
    touch(paths: readonly string[]): Promise<readonly MemoryFile[]>;
    changed(): Promise<readonly MemoryFile[]>;
    compacted(): void;
  };
  readonly todos: () => readonly Todo[];
  readonly date: () => string;
  /** Absent where there is no repository. */
  readonly branch?: () => string | undefined;
  readonly mode: () => PermissionMode;
  /** How to plan, where somebody has words of his own for it. */
  readonly planInstructions?: string;
  readonly answering: () => Answering;
  readonly catalog: () => Catalog;
  /** News of background shells and sub-agents, each handed over once. */
  readonly backgroundNews: () => readonly string[];
};

export type Attachments = {
  /** The system prompt has just been rendered: what stands in it is not news. Otherwise the first `collect` is the beginning. */
  begin(): void;
  collect(): Promise<readonly string[]>;
  /** All news have left the conversation: whatever still differs from the prompt is told again. */
  compacted(): void;
  /** A new beginning: nothing is known yet. */
  restart(): void;
  knownFacts(): KnownFacts | undefined;
};

/** Everything that changed since the model last looked, each thing told once. Nothing that was sent is ever rewritten. */
export function createAttachments(parts: AttachmentParts, before?: KnownFacts): Attachments {
  let state = initialNews(before);
  const factsNow = (): KnownFacts => {
    const branch = parts.branch?.();
    const { date, mode, answering, catalog } = parts;
    const facts = { date: date(), mode: mode(), answering: answering(), catalog: catalog() };
    return branch === undefined ? facts : { ...facts, branch };
  };
  const take = ({ state: next, news }: ReturnType<typeof factNews>): readonly string[] => {
    state = next;
    return news;
  };

  return {
    begin: () => {
      state = beginWith(state, factsNow());
    },
    collect: async () => {
      const facts = take(factNews(state, factsNow(), parts.planInstructions));
      const changes = await parts.changedFiles();
      const files = take(fileNews(state, changes));
      const memory = await memoryNews(parts);
      const news = [...facts, ...files, ...memory, ...take(todoNews(state, parts.todos())), ...parts.backgroundNews()];
      return news.map(reminder);
    },
    compacted: () => {
      state = { ...state, facts: state.firstFacts };
      parts.memory.compacted();
    },
    restart: () => {
      state = { ...state, facts: undefined, firstFacts: undefined };
    },
    knownFacts: () => state.facts,
  };
}

async function memoryNews({ memory, touchedPaths }: AttachmentParts): Promise<readonly string[]> {
  const brought = await memory.touch(touchedPaths());
  const changed = await memory.changed();
  return [
    ...brought.map((file) => `Instructions for the files you touched:\n\n${renderMemoryFile(file)}`),
    ...changed.map((file) =>
      file.text === '' && file.leftOut === undefined
        ? `The instructions in ${file.path} are gone; they no longer apply.`
        : `These instructions were changed; this is how they read now:\n\n${renderMemoryFile(file)}`,
    ),
  ];
}
