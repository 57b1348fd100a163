import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { RememberDestination } from '../contracts/permission.ts';
import { openJsonStore } from '../lib/files/json-store.ts';
import type { ScriptHashes } from './named-scripts.ts';

/** An answer that is remembered: its rules, and where they are stored. */
type RememberedAnswer = { readonly rules: readonly string[]; readonly destination: RememberDestination };

/** The content of the scripts that remembered answers are about. */
export type AnsweredScripts = {
  /** Reads the content that was agreed to, by path: in this session, and in others of this home. */
  read(): Promise<ScriptHashes>;
  /** Records an answer about scripts. A one-time answer (`undefined`) only updates scripts that are already recorded. */
  add(scripts: ScriptHashes, answer: RememberedAnswer | undefined): Promise<void>;
};

/** Returns the key by which a rule that an answer stored is recorded: it covers no script that was not asked about. */
export const getRuleKey = (rule: string): string => `${RULE}${rule}`;

const RULE = 'rule ';

const schema = z.object({ v: z.literal(1).optional() }).catchall(z.string());

/** Creates the record of scripts; without a folder it lasts as long as the session. */
export function createAnsweredScripts(ouroHome?: string): AnsweredScripts {
  const session = new Map<string, string>();
  const store =
    ouroHome === undefined
      ? undefined
      : openJsonStore<z.output<typeof schema>>(join(ouroHome, 'answered-scripts.json'), {
          empty: {},
          entryDepth: 1,
          parse: (json) => schema.safeParse(json),
        });

  async function readStored(): Promise<readonly (readonly [string, string])[]> {
    const { v: _, ...stored } = (await store?.read())?.value ?? {};
    return Object.entries(stored);
  }

  return {
    read: async () => new Map([...(await readStored()), ...session]),
    async add(scripts, answer) {
      const { rules = [], destination } = answer ?? {};
      const entries = [...scripts, ...rules.map((rule) => [getRuleKey(rule), 'answered'] as const)];
      const isKept = destination !== undefined && destination !== 'session';
      const stored = new Map(await readStored());
      const kept = entries.filter(([path]) => isKept || stored.has(path));
      for (const [path, hash] of entries) if (destination === 'session' || session.has(path)) session.set(path, hash);
      if (kept.length === 0) return;
      const deleted = [...stored.keys()].filter(
        (key) => !key.startsWith(RULE) && !existsSync(key.split('\n')[0] ?? ''),
      );
      await store?.change(() => [
        ...deleted.map((path) => ({ path: [path], value: undefined })),
        ...kept.map(([path, hash]) => ({ path: [path], value: hash })),
      ]);
    },
  };
}
