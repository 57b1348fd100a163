import { release } from 'node:os';
import { join } from 'node:path';
import type { SystemPart } from '../contracts/model.ts';
import type { RunOptions } from '../contracts/run-options.ts';
import { createAttachments } from '../prompt/attachments.ts';
import type { GitSnapshot } from '../prompt/environment.ts';
import { createMemory } from '../prompt/memory-files.ts';
import { createSystemPrompt, renderSystem } from '../prompt/system-prompt.ts';
import type { Environment } from './environment.ts';
import type { LiveState } from './live-state.ts';
import type { Extensions } from './load-extensions.ts';
import { repositoryRoot } from './repository-root.ts';

export type PromptWiring = {
  readonly options: RunOptions;
  readonly environment: Environment;
  readonly cwd: string;
  readonly trusted: () => boolean;
  readonly live: LiveState;
  readonly extensions: () => Extensions;
  readonly git: Promise<GitSnapshot | undefined>;
  readonly stored: readonly SystemPart[] | undefined;
  readonly tools: () => readonly string[];
  readonly mcpInstructions: () => readonly { readonly server: string; readonly instructions: string }[];
  readonly takeDiskChanges: () => Promise<readonly { readonly path: string; readonly status: 'changed' | 'deleted' }[]>;
  readonly backgroundNews: () => readonly string[];
};

/** The system prompt, rendered once, and the news that come after it. */
export function makePrompt(wiring: PromptWiring) {
  const { options, environment, cwd, live, extensions } = wiring;
  let touched: string[] = [];
  const memory = createMemory({
    cwd: () => live.now().cwd,
    root: repositoryRoot(cwd),
    home: environment.home,
    managedFile: '/etc/ouro/CLAUDE.md',
    userFiles: [join(environment.ouroHome, 'CLAUDE.md'), join(environment.ouroHome, 'AGENTS.md')],
    trusted: wiring.trusted,
  });
  const listed = () => ({
    skills: extensions().skills.map(({ name, description }) => ({ name, description })),
    // The Task tool's own description lists the kinds, so the prompt need not.
    agents: [],
  });

  async function render(): Promise<readonly SystemPart[]> {
    const [files, git] = await Promise.all([memory.load(), wiring.git]);
    const wanted = live.now().outputStyle;
    const style = extensions().styles.find(({ name, text }) => name === wanted && text !== '');
    return renderSystem({
      memory: files,
      ...listed(),
      environment: {
        cwd,
        additionalDirectories: options.addDirs,
        platform: process.platform,
        osRelease: release(),
        shell: '/bin/bash',
        date: today(),
        git,
      },
      mcp: wiring.mcpInstructions(),
      ...(options.systemPrompt === undefined ? {} : { replacement: options.systemPrompt }),
      ...(options.appendSystemPrompt === undefined ? {} : { append: options.appendSystemPrompt }),
      ...(style === undefined ? {} : { outputStyle: style }),
    });
  }

  const system = createSystemPrompt(render, wiring.stored);
  const attachments = createAttachments({
    changedFiles: async () =>
      (await wiring.takeDiskChanges()).map(({ path, status }) => ({
        path,
        kind: status,
        version: `${status} ${Date.now()}`,
      })),
    touchedPaths: () => {
      const taken = touched;
      touched = [];
      return taken;
    },
    memory,
    todos: () => live.now().todos,
    date: today,
    mode: () => live.now().mode,
    catalog: () => ({ ...listed(), tools: wiring.tools(), mcpInstructions: wiring.mcpInstructions() }),
    backgroundNews: wiring.backgroundNews,
  });

  return {
    system,
    memory,
    async ready() {
      await system.ready();
      attachments.begin();
    },
    collect: attachments.collect,
    /** A call has read or changed this path. */
    touch: (path: string) => void touched.push(path),
  };
}

function today(): string {
  const now = new Date();
  const two = (part: number) => String(part).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
