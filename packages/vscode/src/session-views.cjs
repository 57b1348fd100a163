'use strict';
const { execFile } = require('node:child_process');
const vscode = require('vscode');

const MAX_SESSIONS = 100;
const LIST_TIMEOUT_MS = 20_000;
const MAX_LIST_BYTES = 32 * 1024 * 1024;

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
      getTreeItem({ question, title = '' }) {
        const item = new vscode.TreeItem(question);
        item.description = title;
        item.tooltip = `${question}\n${title}`.trim();
        item.iconPath = new vscode.ThemeIcon('question');
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
      states.set(connection, state);
      show();
    },
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
      return (await listSessions(getCommand(), folder)).slice(0, MAX_SESSIONS);
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
  subscriptions.push(changed, vscode.window.createTreeView('ouro.sessions', { treeDataProvider: provider }));
  return { refresh: () => changed.fire(undefined) };
}

function listSessions(command, cwd) {
  return new Promise((resolve) => {
    const options = { cwd, timeout: LIST_TIMEOUT_MS, maxBuffer: MAX_LIST_BYTES };
    // Without ouro, the view is empty and offers to open it, which says what is missing.
    execFile(command, ['sessions', 'list', '--json'], options, (error, stdout) => {
      try {
        const sessions = error === null ? JSON.parse(stdout) : [];
        resolve(Array.isArray(sessions) ? sessions : []);
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
