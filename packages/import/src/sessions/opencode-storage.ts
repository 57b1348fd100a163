import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  ignoreMissingFile,
  type JsonObject,
  narrowToObject,
  narrowToString,
  parseNetworkJson,
} from '@ouro-cli/ouro/commands';
import { z } from 'zod';
import type { OpencodeRecords } from './opencode-session.ts';

/** A session of opencode, with its messages to be read when they are needed. */
type StoredSession = {
  readonly path: string;
  readonly session: JsonObject;
  readonly messages: () => Promise<OpencodeRecords['messages']>;
};

/** Lists the sessions of opencode: in files in older versions, in a database in newer ones. */
export async function listOpencodeSessions(home: string): Promise<readonly StoredSession[]> {
  const root = join(home, '.local', 'share', 'opencode');
  const storage = join(root, 'storage');
  const database = join(root, 'opencode.db');
  const fromDatabase = existsSync(database) ? await readDatabase(database) : [];
  const known = new Set(fromDatabase.map(({ session }) => session.id));
  const { glob } = await import('fast-glob');
  const paths = await glob('session/*/*.json', { cwd: storage, absolute: true });
  const fromFiles = await Promise.all(
    paths.map(async (path) => ({
      path,
      session: await readJsonFile(path),
      messages: () => readMessages(storage, path),
    })),
  );
  // A migration leaves the files in place.
  return [...fromDatabase, ...fromFiles.filter(({ session }) => !known.has(session.id))];
}

async function readMessages(storage: string, sessionFile: string) {
  const infos = await readJsonFolder(join(storage, 'message', basename(sessionFile, '.json')));
  return Promise.all(
    infos.map(async (info) => ({
      info,
      parts: await readJsonFolder(join(storage, 'part', narrowToString(info.id) ?? '')),
    })),
  );
}

/** Reads the objects of a folder, in the order of their names, which are ids that rise with time. */
async function readJsonFolder(folder: string): Promise<readonly JsonObject[]> {
  const names = (await ignoreMissingFile(readdir(folder))) ?? [];
  return Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .toSorted()
      .map((name) => readJsonFile(join(folder, name))),
  );
}

const readJsonFile = async (path: string): Promise<JsonObject> =>
  narrowToObject(parseNetworkJson(await readFile(path, 'utf8'))) ?? {};

const sessionRow = z.object({
  id: z.string(),
  parent_id: z.string().nullish(),
  directory: z.string(),
  title: z.string(),
  time_updated: z.number(),
  revert: z.string().nullish(),
});
const messageRow = z.object({ id: z.string(), data: z.string() });
const partRow = z.object({ id: z.string(), message_id: z.string(), data: z.string() });

async function readDatabase(file: string): Promise<readonly StoredSession[]> {
  // Loaded on demand: most people do not have such a database.
  const { DatabaseSync } = await import('node:sqlite');
  const query = <Row>(schema: z.ZodType<Row>, text: string, ...values: readonly string[]): readonly Row[] => {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      return z.array(schema).parse(database.prepare(text).all(...values));
    } finally {
      database.close();
    }
  };
  const sessions = query(sessionRow, 'SELECT * FROM session');
  return sessions.map(({ id, parent_id, directory, title, time_updated, revert }) => ({
    path: file,
    session: {
      ...{ id, directory, title, time: { updated: time_updated } },
      ...(parent_id ? { parentID: parent_id } : {}),
      ...(revert ? { revert: parseNetworkJson(revert) ?? null } : {}),
    },
    async messages() {
      const infos = query(messageRow, 'SELECT id, data FROM message WHERE session_id = ? ORDER BY id', id);
      const parts = query(partRow, 'SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id', id);
      return infos.map((info) => ({
        info: { ...parseRow(info.data), id: info.id },
        parts: parts.flatMap((part) => (part.message_id === info.id ? [{ ...parseRow(part.data), id: part.id }] : [])),
      }));
    },
  }));
}

const parseRow = (data: string): JsonObject => narrowToObject(parseNetworkJson(data)) ?? {};
