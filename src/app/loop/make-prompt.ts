import { stat } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { AgentEvent } from '../../contracts/event.ts';
import type { RunOptions } from '../../contracts/face/run-options.ts';
import type { LiveState } from '../../contracts/live.ts';
import type { SystemPart } from '../../contracts/model.ts';
import type { Extensions } from '../../extensions/load-extensions.ts';
import { createGitNews } from '../../git/news.ts';
import type { Repository } from '../../git/repository.ts';
import { createAttachments } from '../../prompt/attachments.ts';
import { gitLines } from '../../prompt/environment.ts';
import { createMemory } from '../../prompt/memory/memory-files.ts';
import { createSystemPrompt, renderSystem } from '../../prompt/system-prompt.ts';
import type { Earlier } from '../../session/earlier.ts';

export type PromptWiring = {
  readonly options: RunOptions;
  readonly environment: Environment;
  readonly cwd: string;
  readonly trusted: () => boolean;
  readonly live: LiveState;
  readonly extensions: () => Extensions;
  readonly language: () => string | undefined;
  readonly repository: Repository;
  /** What an earlier run of this session sent and told. */
  readonly earlier: Pick<Earlier, 'system' | 'told' | 'memoryTold'> | undefined;
  readonly tools: () => readonly string[];
  readonly mcpInstructions: () => readonly { readonly server: string; readonly instructions: string }[];
  readonly takeDiskChanges: () => Promise<readonly { readonly path: string; readonly status: 'changed' | 'deleted' }[]>;
  readonly backgroundNews: () => readonly string[];
};

export type Prompt = ReturnType<typeof makePrompt>;

/** The system prompt, rendered once, and the news that come after it. */
export function makePrompt(wiring: PromptWiring) {
  const { options, environment, cwd, live, extensions } = wiring;
  let touched: string[] = [];
  let compared = false;
  const { root, atStart, look } = wiring.repository;
  let branch: string | undefined;
  const lookAtBranch = async () => {
    branch = await wiring.repository.branch();
  };
  const gitNews = createGitNews({ first: atStart, look, now: Date.now });
  const memory = createMemory({
    cwd: () => live.now().cwd,
    root,
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

  function answering() {
    const wanted = live.now().outputStyle;
    // A prompt of somebody's own takes the place of every style.
    const styles = options.systemPrompt === undefined ? extensions().styles : [];
    return { language: wiring.language(), style: styles.find(({ name, text }) => name === wanted && text !== '') };
  }

  async function render(): Promise<readonly SystemPart[]> {
    const [files, git] = await Promise.all([memory.load(), atStart]);
    const { language, style } = answering();
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
      language,
    });
  }

  /** What belongs to this folder may stand in the first message instead. */
  async function renderSent(): Promise<readonly SystemPart[]> {
    const parts = await render();
    if (options.dynamicSections === undefined) return parts;
    moved = parts.filter(isDynamic);
    memoryTold = textOf(parts, 'memory');
    tellMoved();
    return parts.filter((part) => !isDynamic(part));
  }

  const tellMoved = () => void memoryNews.push(...moved.map(({ text }) => text));

  const system = createSystemPrompt(renderSent, wiring.earlier?.system);
  let moved: readonly SystemPart[] = [];
  let memoryTold = wiring.earlier?.memoryTold ?? textOf(wiring.earlier?.system ?? [], 'memory');
  let memoryNews: string[] = [];

  /** Days may have passed since the snapshot in the prompt of a resumed session. */
  async function repositoryNews(sent: readonly SystemPart[] | undefined): Promise<readonly string[]> {
    const [before, git] = [textOf(sent ?? [], 'environment'), await atStart];
    if (git === undefined || before === '') return [];
    const words = gitLines(git).join('\n');
    return before.includes(words) ? [] : [`When this session was resumed, the repository was like this:\n${words}`];
  }

  /** The prompt of a resumed session stays as it was sent; that its instructions read differently now is news. */
  async function compareMemory(): Promise<void> {
    if (wiring.earlier === undefined || compared) return;
    compared = true;
    const text = textOf(await render(), 'memory');
    memoryNews.push(...(await repositoryNews(wiring.earlier.system)));
    if (text === memoryTold) return;
    memoryTold = text;
    const now = text === '' ? 'There are none any more.' : `This is how they read now:\n\n${text}`;
    memoryNews.push(`The files of instructions have changed since this session began. ${now}`);
  }
  const attachments = createAttachments(
    {
      changedFiles: async () =>
        Promise.all(
          (await wiring.takeDiskChanges()).map(async ({ path, status }) => ({
            path,
            kind: status,
            version: `${status} ${(await stat(path).catch(() => undefined))?.mtimeMs ?? ''}`,
          })),
        ),
      touchedPaths: () => {
        const taken = touched;
        touched = [];
        return taken;
      },
      memory,
      todos: () => live.now().todos,
      date: today,
      branch: () => branch,
      mode: () => live.now().mode,
      answering,
      catalog: () => ({ ...listed(), tools: wiring.tools(), mcpInstructions: wiring.mcpInstructions() }),
      backgroundNews: () => {
        const news = [...memoryNews, ...gitNews.take(), ...wiring.backgroundNews()];
        memoryNews = [];
        return news;
      },
    },
    wiring.earlier?.told,
  );

  return {
    system,
    memory,
    async ready() {
      await Promise.all([system.ready(), compareMemory(), lookAtBranch()]);
      attachments.begin();
    },
    /** What a resume must not tell again. */
    told: () => ({ told: attachments.told(), memoryTold }),
    async collect() {
      await lookAtBranch();
      return attachments.collect();
    },
    /** A compaction took what was told with it. */
    retell(): void {
      attachments.retell();
      tellMoved();
      if (wiring.earlier === undefined) return;
      memoryTold = textOf(system.parts(), 'memory');
      compared = false;
    },
    /** The conversation begins anew: so does its prompt. */
    renew(): void {
      system.forget();
      attachments.forget();
      compared = true;
    },
    /** Where the conversation is and what holds there, for its sub-agents. */
    place: () => [...moved, ...system.parts().filter(isDynamic)],
    listen({ type }: AgentEvent): void {
      // Printing answers one prompt and leaves: there is no later one to tell it with.
      if (options.face === 'print') return;
      if (type === 'agent_start') gitNews.begin();
      if (type === 'agent_end') gitNews.rest();
    },
    /** A call has read or changed this path. */
    touch: (path: string) => void touched.push(path),
  };
}

function isDynamic({ name }: SystemPart): boolean {
  return name === 'environment' || name === 'memory';
}

function textOf(parts: readonly SystemPart[], name: string): string {
  return parts.find((part) => part.name === name)?.text ?? '';
}

function today(): string {
  const now = new Date();
  const two = (part: number) => String(part).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}
