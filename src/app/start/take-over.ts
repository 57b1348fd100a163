import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import { type Environment, SECRETS } from '../../contracts/environment.ts';
import type { TakeOverOffer } from '../../contracts/face/first-run.ts';
import type { JsonValue } from '../../contracts/json.ts';
import type { Settings } from '../../contracts/settings.ts';
import { asJson } from '../../lib/as-json.ts';
import { messageOf } from '../../lib/errors.ts';
import { ifThere } from '../../lib/files/errno.ts';
import { openJsonStore } from '../../lib/files/json-store.ts';
import { sanitize } from '../../lib/text/sanitize.ts';
import { type TakenOver, takeOverMemory } from '../../prompt/memory/take-over-memory.ts';
import { keepSetting } from '../../settings/keep-setting.ts';
import { problemLines } from '../../settings/problem-lines.ts';
import { readLayer } from '../../settings/read-layer.ts';

const FOLDERS = ['commands', 'skills', 'agents', 'output-styles'];
const COPY = {
  recursive: true,
  // What is shared by links goes on where the links lead nowhere.
  dereference: true,
  filter: (path: string) => !['.git', 'node_modules'].includes(basename(path)),
};
const shape = z.object({ mcpServers: z.json().optional() }).catch({});
const NOTHING: TakenOver = { taken: [], left: [] };

/** What may be taken over, as it is called and as a person knows it. */
const HELD = [
  ['settings.json', 'settings'],
  ['CLAUDE.md', 'CLAUDE.md'],
  ['commands', 'commands'],
  ['skills', 'skills'],
  ['agents', 'agents'],
  ['output-styles', 'output styles'],
] as const;

/** What another assistant keeps for this user and nobody was asked about yet. Only names are looked at. */
export async function takeOverOffer({
  home,
  ouroHome,
}: Pick<Environment, 'home' | 'ouroHome'>): Promise<TakeOverOffer | undefined> {
  const from = join(home, '.claude');
  if (!existsSync(from)) return undefined;
  const { value, isRefused } = await answerStore(ouroHome).read();
  // An answer that could not be kept is not asked for.
  if (value !== undefined || isRefused) return undefined;
  const holds = HELD.filter(([name]) => existsSync(join(from, name))).map(([, words]) => words);
  return holds.length === 0 ? undefined : { from, to: ouroHome, holds };
}

const answered = z.object({ answer: z.enum(['yes', 'no']), from: z.string() });

/** It is asked once: what was said stays said. */
function answerStore(ouroHome: string) {
  return openJsonStore<z.output<typeof answered> | undefined>(join(ouroHome, 'taken-over.json'), {
    empty: undefined,
    entryDepth: 1,
    parse: (json) => answered.safeParse(json),
  });
}

/** Does what was answered, keeps the answer, and says what came of it. */
export async function settleOffer(answer: 'yes' | 'no', from: string, ouroHome: string): Promise<readonly string[]> {
  const { taken, left } = answer === 'yes' ? await takeOver(from, ouroHome) : NOTHING;
  await answerStore(ouroHome).change(() =>
    Object.entries({ v: 1, answer, from }).map(([key, value]) => ({ path: [key], value })),
  );
  if (answer === 'no') return [];
  const copied = taken.length === 0 ? `Nothing was copied from ${from}.` : `Copied from ${from}: ${taken.join(', ')}.`;
  return [copied, ...left.map((words) => `  not copied: ${words}`)].map((line) => sanitize(line, 'line'));
}

/** Copies what Claude Code keeps for its user to where ouro keeps its own. What ouro has already is never replaced. */
async function takeOver(from: string, ouroHome: string): Promise<TakenOver> {
  await mkdir(ouroHome, { recursive: true, mode: 0o700 });
  const parts = [
    await guarded('settings.json', () => settings(from, ouroHome)),
    await guarded('CLAUDE.md', () => takeOverMemory(from, ouroHome)),
    ...(await Promise.all(FOLDERS.map((name) => guarded(name, () => folder(name, from, ouroHome))))),
  ];
  return { taken: parts.flatMap(({ taken }) => taken), left: parts.flatMap(({ left }) => left) };
}

async function guarded(name: string, act: () => Promise<TakenOver>): Promise<TakenOver> {
  try {
    return await act();
  } catch (thrown) {
    return { taken: [], left: [`${name} could not be copied: ${messageOf(thrown)}`] };
  }
}

async function settings(from: string, ouroHome: string): Promise<TakenOver> {
  const file = join(from, 'settings.json');
  const text = (await ifThere(readFile(file, 'utf8'))) ?? '';
  const theirs = readLayer(text, file, 'user');
  const servers = await userServers(from);
  const { settings: found, left } = harmless({ ...theirs.layer.settings, ...servers.layer.settings });
  const ownFile = join(ouroHome, 'settings.json');
  const own = readLayer((await ifThere(readFile(ownFile, 'utf8'))) ?? '', ownFile, 'user');
  const problems = problemLines({ problems: [...theirs.problems, ...servers.problems] }, { problems: [] });
  const broken = own.problems.find(({ text: words }) => words.startsWith('is not valid'));
  if (broken !== undefined) return { taken: [], left: [`${ownFile} ${broken.text} Repair it, then import again.`] };
  const taken: string[] = [];
  for (const [key, value] of entries(found)) {
    if (Object.hasOwn(own.layer.settings, key)) left.push(`${key}: you have one already`);
    else {
      await keepSetting(ouroHome, key, value);
      taken.push(key);
    }
  }
  return { taken: taken.length === 0 ? [] : [`settings (${taken.join(', ')})`], left: [...problems, ...left] };
}

function entries(found: Settings): readonly (readonly [string, JsonValue])[] {
  return Object.entries(asJson(found)).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
}

/** The servers of the user stand in a file beside the folder. */
async function userServers(from: string): Promise<ReturnType<typeof readLayer>> {
  const file = join(dirname(from), `${basename(from)}.json`);
  const text = (await ifThere(readFile(file, 'utf8'))) ?? '';
  const { mcpServers } = shape.parse(parse(text) ?? {});
  return readLayer(mcpServers === undefined ? '' : JSON.stringify({ mcpServers }), file, 'user');
}

/** Names of models that mean something here, no keys, and no mode that asks nothing. */
function harmless({ $schema: _, model, permissions, env = {}, ...rest }: Settings): {
  settings: Settings;
  left: string[];
} {
  const left: string[] = [];
  const { ANTHROPIC_BASE_URL: address, ANTHROPIC_MODEL: named, ...others } = env;
  let settings: Settings = rest;
  const wanted = model ?? named;
  if (wanted !== undefined) {
    if (/^(?:opus|sonnet|haiku|opusplan|best|default|claude-[\w.-]+)(?:\[1m\])?$/.test(wanted))
      settings = { ...settings, model: wanted };
    else left.push(`model: "${wanted}" is no model ouro knows`);
  }
  // What steers the other program by variables steers this one by settings.
  if (address !== undefined && URL.canParse(address)) settings = { ...settings, baseUrl: address };
  const keys = Object.keys(others).filter((name) => SECRETS.includes(name));
  for (const name of keys) left.push(`env.${name}: a key. Set it in your shell, or paste it at the first start`);
  const kept = Object.entries(others).filter(([name]) => !keys.includes(name));
  if (kept.length > 0) settings = { ...settings, env: Object.fromEntries(kept) };
  if (permissions !== undefined) {
    const { defaultMode, ...rules } = permissions;
    const bypasses = defaultMode === 'bypassPermissions';
    if (bypasses) left.push('permissions.defaultMode: set bypassPermissions yourself if you want it here, too');
    const tight = bypasses ? rules : permissions;
    if (Object.keys(tight).length > 0) settings = { ...settings, permissions: tight };
  }
  return { settings, left };
}

async function folder(name: string, from: string, ouroHome: string): Promise<TakenOver> {
  const source = join(from, name);
  const theirs = (await ifThere(readdir(source)))?.filter((entry) => !entry.startsWith('.')) ?? [];
  const own = (await ifThere(readdir(join(ouroHome, name)))) ?? [];
  const taken: string[] = [];
  const left: string[] = [];
  for (const entry of theirs) {
    if (own.includes(entry)) {
      left.push(`${name}/${entry}: you have one already`);
      continue;
    }
    try {
      await cp(join(source, entry), join(ouroHome, name, entry), COPY);
      taken.push(entry);
    } catch (thrown) {
      left.push(`${name}/${entry} could not be copied: ${messageOf(thrown)}`);
    }
  }
  return { taken: taken.length === 0 ? [] : [`${name.replace('-', ' ')} (${taken.join(', ')})`], left };
}
