'use strict';
const { execFile } = require('node:child_process');
const { homedir } = require('node:os');
const { join } = require('node:path');
const vscode = require('vscode');

const MAX_SESSIONS = 100;
const LIST_TIMEOUT_MS = 20_000;
const MAX_LIST_BYTES = 32 * 1024 * 1024;
const MISSING_PROGRAM = 'VS Code does not find ouro. Set its path as ouro.command in the settings.';

/** Creates the view of the questions that linked sessions wait with. */
function createQuestionsView(subscriptions) {
  const states = new Map();
  const changed = new vscode.EventEmitter();
  const listWaiting = () =>
    [...states.values()].filter(({ question }) => typeof question === 'string' && question !== '');
  const view = vscode.window.createTreeView('ouro.questions', {
    treeDataProvider: {
      onDidChangeTreeData: changed.event,
      getChildren: (element) => (element === undefined ? listWaiting() : []),
      getTreeItem(state) {
        const { question, title = '' } = state;
        const item = new vscode.TreeItem(question);
        item.description = title;
        item.tooltip = `${question}\n${title}`.trim();
        item.iconPath = new vscode.ThemeIcon('question');
        item.command = { command: 'ouro.showQuestion', title: 'Show', arguments: [state] };
        return item;
      },
    },
  });
  subscriptions.push(view, changed);
  const show = () => {
    const { length } = listWaiting();
    view.badge = length === 0 ? undefined : { value: length, tooltip: `${length} waiting` };
    changed.fire(undefined);
  };
  return {
    update(connection, state) {
      states.set(connection, { ...state, connection });
      show();
    },
    /** Lists the shells that the linked sessions were started from. */
    listShellPids: () => [...states.values()].map(({ shellPid }) => shellPid),
    remove(connection) {
      if (states.delete(connection)) show();
    },
  };
}

/** Creates the view of the stored sessions of the first folder, as `ouro sessions list --json` prints them. */
function createSessionsView(subscriptions, { getCommand, getFolder }) {
  const changed = new vscode.EventEmitter();
  const provider = {
    onDidChangeTreeData: changed.event,
    async getChildren(element) {
      const folder = getFolder();
      if (element !== undefined || folder === undefined) return [];
      const sessions = await listSessions(getCommand(), folder);
      view.message = sessions === undefined ? MISSING_PROGRAM : undefined;
      return (sessions ?? []).slice(0, MAX_SESSIONS);
    },
    getTreeItem({ id, title, lastPrompt, modified }) {
      const item = new vscode.TreeItem(title || lastPrompt || id);
      item.id = id;
      item.description = formatDate(modified);
      item.tooltip = lastPrompt;
      item.iconPath = new vscode.ThemeIcon('comment-discussion');
      return item;
    },
  };
  const refresh = () => changed.fire(undefined);
  const view = vscode.window.createTreeView('ouro.sessions', { treeDataProvider: provider });
  subscriptions.push(
    changed,
    view,
    view.onDidChangeVisibility(({ visible }) => visible && refresh()),
  );
  return { refresh };
}

/** Lists the sessions of a folder; `undefined` if the program is not found. */
async function listSessions(command, folder) {
  const sessions = await runList(command, folder);
  // The PATH of VS Code can lack what the shell of a terminal adds, such as the folder of the installer.
  return sessions ?? (command === 'ouro' ? runList(join(homedir(), '.local/bin/ouro'), folder) : undefined);
}

function runList(command, cwd) {
  return new Promise((resolve) => {
    const options = { cwd, timeout: LIST_TIMEOUT_MS, maxBuffer: MAX_LIST_BYTES };
    execFile(command, ['sessions', 'list', '--json'], options, (error, stdout) => {
      try {
        const sessions = error === null ? JSON.parse(stdout) : [];
        resolve(error?.code === 'ENOENT' ? undefined : Array.isArray(sessions) ? sessions : []);
      } catch {
        resolve([]);
      }
    });
  });
}

function formatDate(value) {
  const date = new Date(value);
  return Number.isNaN(date.getTime()) ? '' : date.toLocaleString();
}

module.exports = { createQuestionsView, createSessionsView };
