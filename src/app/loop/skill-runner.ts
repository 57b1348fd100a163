import type { PromptTemplate, Skill } from '../../contracts/extension.ts';
import { type CallContext, ToolFailure, type ToolOutcome } from '../../contracts/tool.ts';
import { expandSlashCommand } from '../../extensions/expand-slash-command.ts';
import { findSkill } from '../../extensions/load-skills.ts';
import type { RunOverrides } from '../../hooks/run-overrides.ts';
import type { SkillToolDeps } from '../../tools/skill.ts';
import type { TaskToolDeps } from '../../tools/task/task.ts';
import type { Core } from '../core.ts';
import type { DirectToolCalls } from './direct-tool-calls.ts';

/** The execution of commands and skills: for the user as slash commands, for the model through the Skill tool. */
export type SkillRunner = SkillToolDeps & {
  /** Returns the prompt for a command or skill that the user invoked. Its overrides apply to the next run. */
  createPrompt(callable: PromptTemplate, args: string): Promise<string>;
};

type SkillDeps = {
  readonly sessionId: string;
  readonly directCalls: DirectToolCalls;
  readonly runOverrides: RunOverrides;
  readonly run: TaskToolDeps['runAgent'];
  /** Called with the name of each command or skill that is invoked. */
  readonly onInvoke: (name: string) => Promise<void>;
};

/** Creates the execution of commands and skills. */
export function createSkillRunner(
  core: Core,
  { sessionId, directCalls, runOverrides, run, onInvoke }: SkillDeps,
): SkillRunner {
  const listSkills = () => core.extensions.current().skills;
  const isForModel = ({ name, callers }: PromptTemplate) => callers !== 'people' || runOverrides.wasInvoked(name);

  function find(name: string): PromptTemplate | undefined {
    const { commands } = core.extensions.current();
    const commandName = name.replace(/^\//, '');
    return findSkill(listSkills(), name) ?? commands.find((command) => command.name === commandName);
  }

  function expandBody(callable: PromptTemplate, args: string): Promise<string> {
    const { folder, pluginVariables: plugin } = callable;
    const options = Object.entries(plugin?.options ?? {}).map(([key, value]) => [`user_config.${key}`, value] as const);
    const variables = {
      CLAUDE_SKILL_DIR: folder,
      CLAUDE_PROJECT_DIR: core.cwd,
      CLAUDE_SESSION_ID: sessionId,
      CLAUDE_EFFORT: core.live.current().effort,
      ...plugin?.folders,
      ...Object.fromEntries(options),
    };
    return expandSlashCommand(callable, args, {
      runShell: (line) => directCalls.runShell(line, callable.allowedTools),
      readFile: directCalls.readFile,
      variables,
    });
  }

  async function runForked(
    callable: PromptTemplate,
    args: string,
    { callId, report, signal }: CallContext,
  ): Promise<ToolOutcome> {
    const { name, forkAgentType = '', model, effort } = callable;
    const prompt = await expandBody(callable, args);
    const request = {
      callId,
      type: forkAgentType,
      description: name,
      prompt,
      model,
      effort,
      isolation: undefined,
      report,
    };
    const { text, failed, calls } = await run(request, signal);
    return {
      content: text,
      ...(failed ? { isError: true } : {}),
      display: { kind: 'agent', agentType: forkAgentType, summary: text.split('\n')[0]?.slice(0, 120) ?? '', calls },
    };
  }

  return {
    listNames: () =>
      listSkills()
        .filter(isForModel)
        .map(({ name }) => name),
    async loadSkill(name, args, context) {
      const callable = find(name);
      if (callable === undefined) return undefined;
      if (!isForModel(callable))
        throw new ToolFailure(`Only the user calls ${callable.name}, with /${getSlashName(callable)}. Tell them so.`);
      void onInvoke(callable.name);
      if (callable.forkAgentType !== undefined) return runForked(callable, args, context);
      runOverrides.addForCurrentRun(callable);
      return {
        content: `Skill ${callable.name} (its files are in ${callable.folder}):\n\n${await expandBody(callable, args)}`,
      };
    },
    async createPrompt(callable, args) {
      void onInvoke(callable.name);
      runOverrides.addForNextRun(callable);
      if (callable.forkAgentType !== undefined) {
        const call = { name: callable.name, ...(args.trim() === '' ? {} : { args: args.trim() }) };
        return `Call the Skill tool once with ${JSON.stringify(call)}, then report its result.`;
      }
      const text = await expandBody(callable, args);
      return isSkill(callable) && text !== ''
        ? `Use the skill ${callable.name} (its files are in ${callable.folder}):\n\n${text}`
        : text;
    },
  };
}

function isSkill(callable: PromptTemplate | Skill): callable is Skill {
  return 'slashName' in callable;
}

function getSlashName(callable: PromptTemplate): string {
  return isSkill(callable) ? callable.slashName : callable.name;
}
