import { resolve } from 'node:path';
import type { JsonObject } from '../../contracts/json.ts';
import type { QueryDeps } from '../../contracts/query.ts';
import type { CallRequest } from '../../contracts/tool.ts';
import { createFileWatch, type FileWatch } from '../../languages/file-watch.ts';
import { createLanguages } from '../../languages/languages.ts';
import { type LookUp, lookUp } from '../../languages/look-up.ts';
import { reminder } from '../../prompt/reminder.ts';
import { absolutePath } from '../../tools/file-arguments.ts';
import { toolNamed } from '../../tools/statements.ts';
import type { Core } from '../core.ts';
import type { Session } from './session.ts';

type AfterCall = QueryDeps['afterCall'];

/** What the calls of a conversation, or of a sub-agent, have to do with files that language servers know. */
export type CallWatch = {
  hearing(afterCall: AfterCall): AfterCall;
  /** Waits a moment for what servers say of the last changes. */
  news(): Promise<readonly string[]>;
  /** What has come since, without waiting. */
  newsSoFar(): Promise<readonly string[]>;
};

/** The language servers that plugins bring, and who hears of what they find. */
export type SessionLanguages = {
  readonly main: CallWatch;
  hasAny(): boolean;
  /** For a sub-agent. */
  watch(): CallWatch;
  lookUp(wanted: LookUp, signal: AbortSignal): Promise<readonly string[]>;
  close(): Promise<void>;
};

export function createSessionLanguages(core: Core, { ledger }: Pick<Session, 'ledger'>): SessionLanguages {
  const { environment, extensions, settings, bus } = core;
  const tell = (level: 'info' | 'warn') => (text: string) =>
    void bus.tell({ type: 'notice', level, topic: 'languages', text });
  const languages = createLanguages({
    folder: core.cwd,
    version: environment.version,
    variables: () => ({ ...settings.variables(), CLAUDE_PROJECT_DIR: core.cwd }),
    servers: () => extensions.now().plugins.flatMap(({ languageServers }) => languageServers),
    newMarker: core.newId,
    ledger,
    tell: tell('warn'),
  });
  const watch = () => watchCalls(createFileWatch(languages, tell('info')), environment.home);
  return {
    main: watch(),
    watch,
    hasAny: languages.hasAny,
    lookUp: (wanted, signal) => lookUp(languages, wanted, signal),
    close: languages.close,
  };
}

function watchCalls(watch: FileWatch, home: string): CallWatch {
  let signal = new AbortController().signal;
  const newsUntil = async (limit: AbortSignal) => (await watch.news(limit)).map(reminder);
  return {
    hearing: (afterCall) => async (request, outcome, durationMs, callSignal) => {
      signal = callSignal;
      const { reads, writes } = filesOf(request, home);
      if (outcome.isError !== true) {
        await Promise.all([...reads.map(watch.read), ...writes.map(watch.wrote)]);
      }
      return afterCall(request, outcome, durationMs, callSignal);
    },
    news: () => newsUntil(signal),
    newsSoFar: () => newsUntil(AbortSignal.abort()),
  };
}

/** What a call of ours was about, as its tool says; a search is about none of the files it goes through. */
function filesOf(
  { tool, input, cwd }: Pick<CallRequest, 'tool' | 'cwd'> & { readonly input: JsonObject },
  home: string,
) {
  const facts = toolNamed(tool)?.facts?.(input, cwd);
  const paths = (named: readonly string[] = []) => named.map((path) => resolve(absolutePath(path, { cwd, home })));
  if (facts === undefined || facts.searches !== undefined) return { reads: [], writes: [] };
  return { reads: paths(facts.reads), writes: paths(facts.writes) };
}
