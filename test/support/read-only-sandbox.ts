import { type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvironment } from '../../src/app/environment.ts';
import type { Policy } from '../../src/contracts/permission.ts';
import type { BlockedEffect } from '../../src/contracts/sandbox.ts';
import { parseRuleTexts } from '../../src/permissions/rules/parse-rule.ts';
import { createPrivateTmp } from '../../src/sandbox/private-tmp.ts';
import { createReadOnlySandbox, type ReadOnlySandbox } from '../../src/sandbox/read-only/read-only-sandbox.ts';
import { createTempFolder } from './temp-folder.ts';
import type { TempProject } from './temp-project.ts';

export type TestReadOnlySandbox = {
  readonly sandbox: ReadOnlySandbox;
  /** Runs a command to its end. */
  run(command: string, readable?: readonly string[]): Promise<ReadOnlyResult>;
};

export type ReadOnlyResult = {
  readonly printed: string;
  readonly code: number | null;
  readonly blocked: readonly BlockedEffect[];
  readonly notes: readonly string[];
};

type Options = {
  readonly env?: Readonly<Record<string, string>>;
  readonly deny?: readonly string[];
  readonly allow?: readonly string[];
  readonly roots?: readonly string[];
};

/** The read-only sandbox of a project, as conversations have it. */
export function createTestReadOnlySandbox(
  project: TempProject,
  { env = {}, deny = [], allow = [], roots = [project.dir] }: Options = {},
): TestReadOnlySandbox {
  const environment = readEnvironment({
    HOME: project.home,
    OURO_HOME: project.ouroHome,
    PATH: process.env.PATH,
    ...env,
  });
  const root = roots[0] ?? project.dir;
  const policy: Policy = {
    ...{ mode: 'default', workspaceRoots: roots, cwd: root, home: project.home, trusted: true, canBypass: false },
    ...{ sensitivePaths: [], searchPath: [], disk: 'case-sensitive', protectedPaths: [] },
    rules: [
      ...parseRuleTexts(deny, 'deny', { source: 'flag', root }),
      ...parseRuleTexts(allow, 'allow', { source: 'flag', root }),
    ],
  };
  const sandbox = createReadOnlySandbox({
    ...{
      environment,
      now: Date.now,
      privateTmp: createPrivateTmp(Date.now, { parent: createTempFolder() }),
      sessionFolder: join(project.ouroHome, 's'),
      getPolicy: () => policy,
    },
  });
  return {
    sandbox,
    run(command, readable = []) {
      const {
        wrap,
        wrapperFile = '/dev/null',
        variables,
        findBlocked,
        describeLimits,
      } = sandbox.prepare({ command, cwd: root, readable });
      const [file = '', ...args] = wrap(['/bin/bash', '--noprofile', '--norc', '-c', `exec 2>&1; ${command}`]);
      return new Promise((resolve, reject) => {
        const filter = openSync(wrapperFile, 'r');
        const stdio = ['ignore', 'pipe', 'pipe', 'ignore', filter] satisfies StdioOptions;
        const child = spawn(file, args, { cwd: root, env: { ...variables }, stdio });
        closeSync(filter);
        let printed = '';
        for (const stream of [child.stdout, child.stderr])
          stream?.setEncoding('utf8').on('data', (text: string) => {
            printed += text;
          });
        child.on('error', reject).on('close', (code) => {
          const lines = printed.split('\n');
          resolve({ printed, code, blocked: code === 0 ? [] : findBlocked(lines), notes: describeLimits(lines) });
        });
      });
    },
  };
}
