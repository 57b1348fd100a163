import { access, constants, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chalk } from 'chalk';
import { execa } from 'execa';
import type { Environment } from '../../contracts/environment.ts';
import { getErrorMessage } from '../../lib/errors.ts';
import { markAsPrintable, type Printable } from '../../lib/printable.ts';
import { describeMissingShell, findShell } from '../../lib/processes/find-shell.ts';
import { findBundledRipgrep, isCompiledExecutable } from '../../lib/processes/installed-files.ts';
import { escapeUnsafeLine } from '../../lib/text/sanitize.ts';
import { readStoredApiKeys } from '../../model/api-keys.ts';
import { listProvidersWithKey } from '../../model/registry/explain-missing-model.ts';
import { readProviderConfigs } from '../../model/registry/provider-settings.ts';
import { probeReadOnlySandbox } from '../../sandbox/read-only/read-only-sandbox.ts';
import { applySettingsEnvironment } from '../../settings/effective-environment.ts';
import { formatConfigProblems } from '../../settings/load-settings.ts';
import { readSettings } from '../read-settings.ts';
import { getReleaseSource, type ReleaseSource } from '../release-source.ts';
import { loadFolderTrust } from '../trust/folder-trust.ts';

/** The finding of one check. */
export type DoctorCheckResult = {
  readonly name: string;
  readonly state: 'ok' | 'warn' | 'bad';
  readonly detail: string;
};

type CheckContext = {
  readonly environment: Environment;
  readonly cwd: string;
  readonly isTty: boolean;
};

/** Describes the version, and whether it verifies signatures of releases. @internal Exported for tests. */
export function describeBuild(
  version: string,
  isExecutable: boolean,
  { releaseKey }: Pick<ReleaseSource, 'releaseKey'>,
): string {
  if (!isExecutable) return version;
  return releaseKey === undefined
    ? `${version}; this build verifies no signatures of releases, only checksums`
    : `${version}; releases must be signed with ${releaseKey}`;
}

/** Checks everything ouro depends on. Changes nothing and makes no network requests. */
export async function runDoctorChecks(context: CheckContext): Promise<readonly DoctorCheckResult[]> {
  const { environment } = context;
  const runtime = process.versions.bun === undefined ? `Node ${process.version}` : `Bun ${process.versions.bun}`;
  return [
    { name: 'ouro', state: 'ok', detail: describeBuild(environment.version, isCompiledExecutable, getReleaseSource()) },
    { name: 'runtime', state: 'ok', detail: runtime },
    await checkProgram(
      'git',
      'git',
      ['--version'],
      'Without git, ouro has no branch name, no ignore rules and no overview of changes.',
      environment,
    ),
    await checkProgram(
      'bash',
      findShell('bash', environment.variables) ?? 'bash',
      ['--version'],
      describeMissingShell(),
      environment,
    ),
    await checkReadOnlySandbox(context),
    await checkRipgrep(),
    checkTerminal(context),
    await checkHome(environment),
    await checkKey(context),
    ...(await checkSettings(context)),
  ];
}

async function checkProgram(
  name: string,
  file: string,
  args: readonly string[],
  consequence: string,
  environment: Environment,
): Promise<DoctorCheckResult> {
  try {
    const { stdout } = await execa(file, args, {
      env: environment.variables,
      extendEnv: false,
      timeout: 5_000,
      stdin: 'ignore',
    });
    return { name, state: 'ok', detail: stdout.split('\n')[0] ?? '' };
  } catch {
    return { name, state: name === 'bash' ? 'bad' : 'warn', detail: `not found. ${consequence}` };
  }
}

/** Probes the read-only sandbox with files in a temporary folder, so that nothing is left behind. */
async function checkReadOnlySandbox({ environment, cwd }: CheckContext): Promise<DoctorCheckResult> {
  const folder = await mkdtemp(join(tmpdir(), 'ouro-doctor-'));
  const probe = probeReadOnlySandbox({ environment, roots: [cwd], folder });
  // On Windows a scanner may still have the folder open; it stays among the temporary files.
  await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  if (probe.ok)
    return {
      name: 'sandbox',
      state: 'ok',
      detail:
        'commands that only read run without asking, in a read-only sandbox; a question or /sandbox auto lets others write in the project',
    };
  const hint =
    process.platform === 'linux' && probe.isUndecided !== true ? ' Install bubblewrap, or allow user namespaces.' : '';
  return {
    name: 'sandbox',
    state: 'warn',
    detail: `not available (${probe.problem}), so most commands that only read need approval.${hint}`,
  };
}

async function checkRipgrep(): Promise<DoctorCheckResult> {
  try {
    const path = findBundledRipgrep();
    await access(path, constants.X_OK);
    return { name: 'ripgrep', state: 'ok', detail: path };
  } catch {
    return { name: 'ripgrep', state: 'warn', detail: 'not found; search still works, but is slower' };
  }
}

function checkTerminal({ isTty, environment: { term } }: CheckContext): DoctorCheckResult {
  const { columns, rows } = process.stdout;
  if (!isTty)
    return { name: 'terminal', state: 'warn', detail: 'the output is not a terminal; only print mode (-p) works here' };
  const colors = term.isColorDisabled
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
    detail: `${term.name || 'unnamed'}, ${columns}x${rows}, ${colors}, ${unicode}${term.isTmux ? ', in tmux' : ''}`,
  };
}

async function checkHome({ ouroHome }: Environment): Promise<DoctorCheckResult> {
  try {
    await access(ouroHome, constants.W_OK);
    return { name: 'home', state: 'ok', detail: ouroHome };
  } catch (thrown) {
    const missing = getErrorMessage(thrown).includes('ENOENT');
    if (missing) return { name: 'home', state: 'ok', detail: `${ouroHome} (created with the first session)` };
    return {
      name: 'home',
      state: 'bad',
      detail: `${ouroHome} is not writable, so sessions would be lost. Set OURO_HOME to a writable folder.`,
    };
  }
}

async function checkKey({ environment: base, cwd }: CheckContext): Promise<DoctorCheckResult> {
  const loaded = await readSettings({ cwd }, base, false);
  const environment = applySettingsEnvironment(base, loaded);
  const { apiKeyHelper, baseUrl: addressInSettings } = loaded.merged;
  const { credentials, ouroHome } = environment;
  const baseUrl = environment.baseUrl ?? addressInSettings;
  const destination = baseUrl === undefined ? '' : `, sent to ${baseUrl}`;
  const name = ANTHROPIC_KEYS.find(([, field]) => credentials[field] !== undefined)?.[0];
  if (name !== undefined) {
    const origin = base.credentials === credentials ? 'the environment' : '"env" of the settings';
    return { name: 'key', state: 'ok', detail: `${name} from ${origin}${destination}` };
  }
  if (apiKeyHelper !== undefined)
    return { name: 'key', state: 'ok', detail: `apiKeyHelper of the settings${destination}` };
  const { keys, problem } = await readStoredApiKeys(environment);
  const stored = keys.get('anthropic');
  if (stored !== undefined)
    return { name: 'key', state: 'ok', detail: `stored key (${stored.source}) in ${ouroHome}${destination}` };
  if (problem !== undefined) return { name: 'key', state: 'bad', detail: problem };
  const read = readProviderConfigs(loaded.merged, environment, keys);
  const [other] = read.ok ? listProvidersWithKey(read.providers) : [];
  if (other !== undefined)
    return { name: 'key', state: 'ok', detail: `${other.label} (${other.source}): --model ${other.model}` };
  return {
    name: 'key',
    state: 'warn',
    detail:
      'not in the environment, not in the settings and not stored. Set ANTHROPIC_API_KEY, use a local model, or try --model demo.',
  };
}

const ANTHROPIC_KEYS = [
  ['ANTHROPIC_API_KEY', 'apiKey'],
  ['ANTHROPIC_AUTH_TOKEN', 'authToken'],
] as const;

async function checkSettings({ environment, cwd: folder }: CheckContext): Promise<readonly DoctorCheckResult[]> {
  const cwd = await realpath(folder);
  const trust = await loadFolderTrust(cwd, environment, undefined);
  const { problems } = await readSettings({ cwd }, environment, trust.isTrusted, trust.isApproved);
  if (problems.length === 0) return [{ name: 'settings', state: 'ok', detail: 'no problems found' }];
  return problems.map((problem) => {
    const [detail = ''] = formatConfigProblems({ problems: [problem] }, { problems: [] });
    return { name: 'settings', state: problem.code === 'not_trusted' ? 'warn' : 'bad', detail };
  });
}

/** Formats findings as aligned lines, in colour if the terminal supports it. */
export function formatDoctorFindings(findings: readonly DoctorCheckResult[], colors: 'plain' | 'colored'): Printable {
  const { green, yellow, red, dim } = new Chalk(colors === 'plain' ? { level: 0 } : {});
  const marks = { ok: green('ok  '), warn: yellow('warn'), bad: red('bad ') };
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.map(
    ({ name, state, detail }) =>
      `${marks[state]}  ${dim(escapeUnsafeLine(name.padEnd(width)))}  ${escapeUnsafeLine(detail)}`,
  );
  return markAsPrintable(lines.join('\n'));
}
