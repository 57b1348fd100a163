import type { Callable, Skill } from '../../contracts/extension.ts';
import { type CallContext, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { expandCommand } from '../../extensions/expand-command.ts';
import { findSkill } from '../../extensions/load-skills.ts';
import { placedText } from '../../extensions/placed-text.ts';
import type { SkillParts } from '../../tools/skill/skill.ts';
import type { TaskParts } from '../../tools/task/task.ts';
import type { Core } from '../core.ts';
import type { GatedCalls } from './gated-calls.ts';
import type { RunWishes } from './skills/run-wishes.ts';

/** Commands and skills of files as they are called: by a person with a slash, by the model with the Skill tool. */
export type Skills = SkillParts & {
  /** What a person who calls it says to the model. What it allows holds for the run that follows. */
  said(callable: Callable, args: string): Promise<string>;
};

type Needs = {
  readonly sessionId: string;
  readonly gatedCalls: GatedCalls;
  readonly wishes: RunWishes;
  readonly run: TaskParts['run'];
};

export function createSkills(core: Core, { sessionId, gatedCalls, wishes, run }: Needs): Skills {
  const known = () => core.extensions.now().skills;
  const isForModel = ({ name, callers }: Callable) => callers !== 'people' || wishes.wasCalled(name);

  function find(name: string): Callable | undefined {
    const { commands } = core.extensions.now();
    const plain = name.replace(/^\//, '');
    return findSkill(known(), name) ?? commands.find((command) => command.name === plain);
  }

  function words(callable: Callable, args: string): Promise<string> {
    const { body, folder, pluginVariables: plugin } = callable;
    // Its paths are known before its files are looked for.
    const placed = plugin === undefined ? body : placedText(body, plugin);
    const facts = {
      CLAUDE_SKILL_DIR: folder,
      CLAUDE_PROJECT_DIR: core.cwd,
      CLAUDE_SESSION_ID: sessionId,
      CLAUDE_EFFORT: core.live.now().effort,
      ...plugin,
    };
    return expandCommand({ ...callable, body: placed }, args, {
      runShell: (line) => gatedCalls.shell(line, callable.allowedTools),
      readFile: gatedCalls.file,
      facts,
    });
  }

  async function forked(
    callable: Callable,
    args: string,
    { callId, report, signal }: CallContext,
  ): Promise<ToolOutcome> {
    const { name, fork = '', model, effort } = callable;
    const prompt = await words(callable, args);
    const order = { callId, type: fork, description: name, prompt, model, effort, isolation: undefined, report };
    const { text, failed, calls } = await run(order, signal);
    return {
      content: text,
      ...(failed ? { isError: true } : {}),
      display: { kind: 'agent', agentType: fork, summary: text.split('\n')[0]?.slice(0, 120) ?? '', calls },
    };
  }

  return {
    names: () =>
      known()
        .filter(isForModel)
        .map(({ name }) => name),
    async open(name, args, context) {
      const callable = find(name);
      if (callable === undefined) return undefined;
      if (!isForModel(callable))
        throw new ToolFailure(`Only the user calls ${callable.name}, with /${slashNameOf(callable)}. Tell them so.`);
      if (callable.fork !== undefined) return forked(callable, args, context);
      wishes.add(callable);
      return {
        content: `Skill ${callable.name} (its files are in ${callable.folder}):\n\n${await words(callable, args)}`,
      };
    },
    async said(callable, args) {
      wishes.next(callable);
      if (callable.fork !== undefined) {
        const call = { name: callable.name, ...(args.trim() === '' ? {} : { args: args.trim() }) };
        return `Call the Skill tool once with ${JSON.stringify(call)}, then tell me what came of it.`;
      }
      const text = await words(callable, args);
      return isSkill(callable) && text !== ''
        ? `Use the skill ${callable.name} (its files are in ${callable.folder}):\n\n${text}`
        : text;
    },
  };
}

function isSkill(callable: Callable | Skill): callable is Skill {
  return 'slashName' in callable;
}

function slashNameOf(callable: Callable): string {
  return isSkill(callable) ? callable.slashName : callable.name;
}
