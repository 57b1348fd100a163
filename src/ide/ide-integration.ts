import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Agent } from '../contracts/agent.ts';
import type { ReminderMoment } from '../contracts/feature.ts';
import type { EditorPortEvent } from '../contracts/frontend/conversation.ts';
import type { BeforeCall } from '../contracts/query.ts';
import type { SessionCore } from '../contracts/session-core.ts';
import type { CallRequest } from '../contracts/tool.ts';
import { formatHomePath } from '../lib/files/path-style.ts';
import { wrapInReminder } from '../lib/text/reminder.ts';
import { createEditReview } from '../tools/edit/preview-edit.ts';
import { getToolFacts } from '../tools/tool-traits.ts';
import { createEditReviews } from './edit-reviews.ts';
import { createEditorDiagnosticsTracker, type EditorDiagnostics, hasUnsavedChanges } from './editor-files.ts';
import { createEditorLink, type EditorLink, type EditorLinkEvent } from './editor-link.ts';
import { createFindEditorsOptions } from './find-editors.ts';
import { formatEditorFocusContext, formatEditorFocusLabel, formatEditorMention } from './parse-notification.ts';
import { createSessionStateReporter } from './session-state-reporter.ts';

/** The link of a session to the user's editor: context, diffs, diagnostics and unsaved files. */
export type IdeIntegration = ReturnType<typeof createIdeIntegration>;

const FIND_LIMIT_MS = 10_000;
const FIND_INTERVAL_MS = 250;

/** Creates the link of a session; nothing is read before it is started. `isReadable`: the model may see a file. */
export function createIdeIntegration(core: SessionCore, isReadable: (path: string) => boolean) {
  const { environment, cwd, options, settings, bus } = core;
  const listeners = new Set<(event: EditorPortEvent) => void>();
  const connectionListeners = new Set<() => void>();
  const emit = (event: EditorPortEvent) => {
    for (const listener of listeners) listener(event);
  };
  const formatPath = (path: string) => formatHomePath(path, environment.home, cwd);
  const notify = (level: 'info' | 'warn', text: string) =>
    void bus.emit({ type: 'notice', level, topic: 'editor', text });
  const link = createEditorLink({
    search: createFindEditorsOptions(environment.variables, { home: environment.home, cwd }),
    version: environment.version,
    onEvent: handleEvent,
  });
  let started: Promise<unknown> | undefined;
  let hadConnection = false;

  const getName = () => {
    const state = link.getState();
    return 'editor' in state ? state.editor.name : 'The editor';
  };

  /** Returns the open file and the selection, if the model may read the file. */
  function getFocus() {
    const focus = link.getFocus();
    // The buffer of a diff, for example, is not a file.
    return focus !== undefined && existsSync(focus.path) && isReadable(focus.path) ? focus : undefined;
  }

  function handleEvent(event: EditorLinkEvent): void {
    if (event.type === 'mention') {
      emit({ type: 'mention', text: formatEditorMention(event.mention, formatPath) });
    } else if (event.type === 'focus') {
      const focus = getFocus();
      emit({ type: 'context', label: focus === undefined ? undefined : formatEditorFocusLabel(focus) });
    } else if (event.state.status === 'connected') {
      notify('info', `${hadConnection ? 'Connected again' : 'Connected'} to ${event.state.editor.name}.`);
      hadConnection = true;
      for (const listener of connectionListeners) listener();
    }
  }

  /** Creates the comparison of the editor's diagnostics for one conversation or sub-agent. */
  const createDiagnostics = (): EditorDiagnostics =>
    createEditorDiagnosticsTracker({ link, getName, formatPath, isReadable, notify: (text) => notify('info', text) });

  function start(): void {
    if (started !== undefined) return;
    if (options.ide === 'wait') started = waitForEditor(link, (text) => notify('warn', text));
    else started = settings.current().autoConnectIde === false ? Promise.resolve() : link.connectBest();
  }

  return {
    name: 'editor',
    link,
    port: {
      start,
      dropContext: link.dropFocus,
      subscribe(listener: (event: EditorPortEvent) => void) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    /** Shows the diffs of edits that this agent asks about, and the questions that wait. */
    attach(agent: Agent) {
      const reviews = createEditReviews({
        link,
        reviewEdit: (facts) => createEditReview(facts, { cwd: core.live.current().cwd, home: environment.home }),
        answer: (id, answer) => void agent.answerPermission(id, answer),
        formatPath,
      });
      const reporter = createSessionStateReporter({ link, getTitle: () => basename(cwd), formatPath });
      for (const { onEvent, onConnected } of [reviews, reporter]) {
        agent.subscribe(onEvent);
        connectionListeners.add(onConnected);
      }
    },
    /** Resolves at once, or with `--ide` when an editor is connected or none was found in time. */
    async waitUntilReady() {
      if (options.ide !== 'wait') return;
      start();
      await started;
    },
    reminders: createFocusReminders(() => {
      const focus = getFocus();
      return focus === undefined ? '' : formatEditorFocusContext(getName(), focus, formatPath);
    }),
    /** Asks before an edit of a file with unsaved changes. */
    beforeCall: (call: CallRequest, signal: AbortSignal) =>
      checkUnsavedFiles(call, { link, getName, formatPath }, signal),
    createDiagnostics,
    /** Lists the present diagnostics of a file or of all files. */
    listDiagnostics: createDiagnostics().listDiagnostics,
    /** Returns whether the editor reports diagnostics. */
    hasDiagnostics: (): boolean => link.hasTool('getDiagnostics'),
    close: link.close,
  };
}

/** Looks for an editor until one is connected, for `--ide`. */
async function waitForEditor(link: EditorLink, warn: (text: string) => void): Promise<void> {
  const endMs = performance.now() + FIND_LIMIT_MS;
  for (;;) {
    const result = await link.connectBest();
    if (result.ok) return;
    if (performance.now() >= endMs)
      return warn(`--ide: ${result.problem}. Start the extension of your editor, then run /ide.`);
    await delay(FIND_INTERVAL_MS);
  }
}

/** Tells the model about the open file and the selection, if they have changed since the last prompt. */
function createFocusReminders(getContext: () => string) {
  let sentContext = '';
  return async (moment: ReminderMoment): Promise<readonly string[]> => {
    const context = moment === 'prompt' ? getContext() : sentContext;
    if (context === sentContext) return [];
    sentContext = context;
    return context === '' ? [] : [wrapInReminder(context)];
  };
}

type UnsavedCheckDeps = {
  readonly link: EditorLink;
  readonly getName: () => string;
  readonly formatPath: (path: string) => string;
};

/** Asks before a call edits files with unsaved changes. */
async function checkUnsavedFiles(
  { tool, input, cwd }: CallRequest,
  { link, getName, formatPath }: UnsavedCheckDeps,
  signal: AbortSignal,
): Promise<BeforeCall> {
  if (!link.hasTool('checkDocumentDirty')) return {};
  const { kind, writes = [] } = getToolFacts(tool, input, cwd);
  if (kind !== 'edit') return {};
  const unsaved: string[] = [];
  for (const path of writes) if (await hasUnsavedChanges(link, path, signal)) unsaved.push(formatPath(path));
  if (unsaved.length === 0) return {};
  return { ask: `${unsaved.join(', ')} has unsaved changes in ${getName()} that this edit does not include.` };
}
