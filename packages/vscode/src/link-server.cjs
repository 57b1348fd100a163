'use strict';
const { randomUUID, timingSafeEqual } = require('node:crypto');
const { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { homedir } = require('node:os');
const { join } = require('node:path');
const { startWebSocketServer } = require('./websocket-server.cjs');

const TOKEN_HEADER = 'x-claude-code-ide-authorization';
const PROTOCOL_VERSION = '2025-03-26';

/**
 * Starts the MCP server that ouro connects to, and describes it in a lock file. `tools` maps names to functions that
 * get the input and a connection, and return a list of texts.
 */
async function startLinkServer({ name, version, tools, getFolders, onDisconnect, environment = process.env }) {
  const token = randomUUID();
  const connections = new Set();
  const server = await startWebSocketServer({
    accept: (headers) => isSameToken(headers.get(TOKEN_HEADER) ?? '', token),
    onConnection(connection) {
      connections.add(connection);
      return {
        onText: (text) => void answerMessage(text, connection),
        onClose() {
          connections.delete(connection);
          onDisconnect(connection);
        },
      };
    },
  });

  async function answerMessage(text, connection) {
    const message = parseJson(text);
    if (typeof message !== 'object' || message === null || message.id === undefined || message.method === undefined)
      return;
    const reply = (body) => connection.send(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...body }));
    try {
      const result = await runMethod(message.method, message.params ?? {}, connection);
      reply(result === undefined ? { error: { code: -32_601, message: `No method ${message.method}.` } } : { result });
    } catch (thrown) {
      reply({ error: { code: -32_603, message: thrown instanceof Error ? thrown.message : String(thrown) } });
    }
  }

  async function runMethod(method, params, connection) {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: PROTOCOL_VERSION,
          capabilities: { tools: {} },
          serverInfo: { name: 'ouro-vscode', version },
        };
      case 'ping':
        return {};
      case 'tools/list':
        return { tools: Object.keys(tools).map((tool) => ({ name: tool, inputSchema: { type: 'object' } })) };
      case 'tools/call': {
        const run = Object.hasOwn(tools, params.name) ? tools[params.name] : undefined;
        if (run === undefined) throw new Error(`No tool ${params.name}.`);
        try {
          const texts = await run(params.arguments ?? {}, connection);
          return { content: texts.map((text) => ({ type: 'text', text })) };
        } catch (thrown) {
          const text = thrown instanceof Error ? thrown.message : String(thrown);
          return { content: [{ type: 'text', text }], isError: true };
        }
      }
      default:
        return undefined;
    }
  }

  const folder = join(environment.CLAUDE_CONFIG_DIR || join(homedir(), '.claude'), 'ide');
  const lockFile = join(folder, `${server.port}.lock`);
  const writeLock = () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lock = { pid: process.pid, workspaceFolders: getFolders(), ideName: name, transport: 'ws', authToken: token };
    writeFileSync(lockFile, JSON.stringify(lock), { mode: 0o600 });
  };
  removeStaleLocks(folder, name);
  writeLock();
  return {
    port: server.port,
    /** Writes the lock file again, when the folders have changed. */
    writeLock,
    notify(method, params) {
      for (const connection of connections) connection.send(JSON.stringify({ jsonrpc: '2.0', method, params }));
    },
    isConnected: () => connections.size > 0,
    close() {
      rmSync(lockFile, { force: true });
      server.close();
    },
  };
}

/** Removes lock files of this editor whose process is gone, for example after a crash. */
function removeStaleLocks(folder, name) {
  for (const file of listFiles(folder).filter((entry) => entry.endsWith('.lock'))) {
    const path = join(folder, file);
    const lock = parseJson(readText(path));
    if (lock?.ideName === name && Number.isInteger(lock.pid) && !isRunning(lock.pid)) rmSync(path, { force: true });
  }
}

function listFiles(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return thrown.code === 'EPERM';
  }
}

function isSameToken(given, token) {
  return given.length === token.length && timingSafeEqual(Buffer.from(given), Buffer.from(token));
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

module.exports = { startLinkServer };
