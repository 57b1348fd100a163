import { access, constants } from 'node:fs/promises';
import { Chalk } from 'chalk';
import { execa } from 'execa';
import type { Environment } from '../../contracts/environment.ts';
import { messageOf } from '../../lib/errors.ts';
import { asPrintable, type Printable } from '../../lib/printable.ts';
import { bundledRipgrep } from '../../lib/processes/installed-file.ts';
import { printableLine } from '../../lib/text/sanitize.ts';
import { storedKeys } from '../../model/keys/stored-keys.ts';
import { problemLines } from '../../settings/problem-lines.ts';
import { readSettings } from '../settings/read-settings.ts';

/** One thing ouro needs or uses, and how it stands. */
export type Finding = { readonly name: string; readonly state: 'ok' | 'warn' | 'bad'; readonly detail: string };

type Place = {
  readonly environment: Environment;
  readonly cwd: string;
  readonly isTty: boolean;
};

/** Looks at everything ouro depends on; changes nothing and contacts nobody. */
export async function examine(place: Place): Promise<readonly Finding[]> {
  const { environment } = place;
  const runtime = process.versions.bun === undefined ? `Node ${process.version}` : `Bun ${process.versions.bun}`;
  return [
    { name: 'ouro', state: 'ok', detail: environment.version },
    { name: 'runtime', state: 'ok', detail: runtime },
    await program(
      'git',
      'git',
      ['--version'],
      'Without git there is no branch, no ignore rules and no snapshot of changes.',
      environment,
    ),
    await program('bash', '/bin/bash', ['--version'], 'Shell commands cannot run without /bin/bash.', environment),
    await ripgrep(),
    terminal(place),
    await home(environment),
    await key(environment),
    ...(await settings(place)),
  ];
}

async function program(
  name: string,
  file: string,
  args: readonly string[],
  without: string,
  environment: Environment,
): Promise<Finding> {
  try {
    const { stdout } = await execa(file, args, {
      env: environment.variables,
      extendEnv: false,
      timeout: 5_000,
      stdin: 'ignore',
    });
    return { name, state: 'ok', detail: stdout.split('\n')[0] ?? '' };
  } catch {
    return { name, state: name === 'bash' ? 'bad' : 'warn', detail: `not found. ${without}` };
  }
}

async function ripgrep(): Promise<Finding> {
  try {
    const path = bundledRipgrep();
    await access(path, constants.X_OK);
    return { name: 'ripgrep', state: 'ok', detail: path };
  } catch {
    return { name: 'ripgrep', state: 'warn', detail: 'not found; searching works, but more slowly' };
  }
}

function terminal({ isTty, environment: { term } }: Place): Finding {
  const { columns, rows } = process.stdout;
  if (!isTty) return { name: 'terminal', state: 'warn', detail: 'the output is not a terminal; only -p works here' };
  const colors = term.noColor
    ? 'no colour'
    : /truecolor|24bit/.test(term.colorTerm)
      ? 'full colour'
      : /256/.test(term.name)
        ? '256 colours'
        : '16 colours';
  const unicode = /utf-?8/i.test(term.locale) ? 'Unicode' : 'ASCII (the locale is not UTF-8)';
  const state = term.name === 'dumb' ? 'warn' : 'ok';
  return {
    name: 'terminal',
    state,
    detail: `${term.name || 'unnamed'}, ${columns}x${rows}, ${colors}, ${unicode}${term.tmux ? ', in tmux' : ''}`,
  };
}

async function home({ ouroHome }: Environment): Promise<Finding> {
  try {
    await access(ouroHome, constants.W_OK);
    return { name: 'home', state: 'ok', detail: ouroHome };
  } catch (thrown) {
    const missing = messageOf(thrown).includes('ENOENT');
    if (missing) return { name: 'home', state: 'ok', detail: `${ouroHome} (made at the first session)` };
    return {
      name: 'home',
      state: 'bad',
      detail: `${ouroHome} cannot be written: sessions would be lost. Set OURO_HOME to a folder you own.`,
    };
  }
}

async function key(environment: Environment): Promise<Finding> {
  const { credentials, baseUrl, ouroHome } = environment;
  const where = baseUrl === undefined ? '' : `, sent to ${baseUrl}`;
  if (credentials.apiKey !== undefined)
    return { name: 'key', state: 'ok', detail: `ANTHROPIC_API_KEY from the environment${where}` };
  if (credentials.authToken !== undefined)
    return { name: 'key', state: 'ok', detail: `ANTHROPIC_AUTH_TOKEN from the environment${where}` };
  const { keys, problem } = await storedKeys(environment);
  const stored = keys.get('anthropic');
  if (stored !== undefined)
    return { name: 'key', state: 'ok', detail: `stored once (${stored.source}), in ${ouroHome}${where}` };
  if (problem !== undefined) return { name: 'key', state: 'bad', detail: problem };
  return {
    name: 'key',
    state: 'warn',
    detail: 'none in the environment and none stored. Set ANTHROPIC_API_KEY, use a local model, or try --model demo.',
  };
}

async function settings({ environment, cwd }: Place): Promise<readonly Finding[]> {
  const { problems } = await readSettings({ cwd }, environment, false);
  if (problems.length === 0) return [{ name: 'settings', state: 'ok', detail: 'no problems found' }];
  return problemLines({ problems }, { problems: [] }).map((detail) => ({ name: 'settings', state: 'bad', detail }));
}

/** The findings as aligned lines, in colour where the terminal has any. */
export function formatFindings(findings: readonly Finding[], colors: 'plain' | 'colored'): Printable {
  const { green, yellow, red, dim } = new Chalk(colors === 'plain' ? { level: 0 } : {});
  const marks = { ok: green('ok  '), warn: yellow('warn'), bad: red('bad ') };
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.map(
    ({ name, state, detail }) => `${marks[state]}  ${dim(printableLine(name.padEnd(width)))}  ${printableLine(detail)}`,
  );
  return asPrintable(lines.join('\n'));
}
