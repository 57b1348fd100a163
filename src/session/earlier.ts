import type { RunOptions } from '../contracts/face/run-options.ts';
import type { SystemPart, ToolSpec } from '../contracts/model.ts';
import { readPrompt } from './prompt-keeper.ts';
import type { Rebuilt } from './records/rebuild.ts';
import type { StoredState } from './stored/stored-state.ts';

/** What an earlier run of a session had sent: the same bytes go out again. */
export type Earlier = {
  readonly system: readonly SystemPart[];
  readonly tools: readonly ToolSpec[];
  readonly told: StoredState['told'];
  /** The instructions as the model knows them, where they are not those of the prompt any more. */
  readonly memoryTold: string | undefined;
};

type PromptFlags = Pick<RunOptions, 'systemPrompt' | 'appendSystemPrompt' | 'agent'>;

/** The flags that a system prompt is made with, as one mark. */
export function promptFlags({ systemPrompt, appendSystemPrompt, agent }: PromptFlags): string {
  return JSON.stringify([systemPrompt ?? '', appendSystemPrompt ?? '', agent ?? '']);
}

/** Nothing to repeat in a new session, after an update of ouro, or when other words were asked for. */
export function earlierOf(
  { rebuilt, stored }: { readonly rebuilt: Rebuilt | undefined; readonly stored: StoredState },
  options: PromptFlags,
  version: string,
): { readonly earlier: Earlier | undefined; readonly notice: string | undefined } {
  const prompt = rebuilt?.kept.prompt;
  if (prompt === undefined) return { earlier: undefined, notice: undefined };
  if (prompt.version !== version) {
    const notice = `This session was begun with ouro ${prompt.version}; its system prompt is written anew by ${version}.`;
    return { earlier: undefined, notice };
  }
  if ((stored.promptFlags ?? promptFlags({})) !== promptFlags(options))
    return { earlier: undefined, notice: undefined };
  return { earlier: { ...readPrompt(prompt), told: stored.told, memoryTold: stored.memoryTold }, notice: undefined };
}

/** A tool that still takes the same input is described in the same words as before. */
export function repeatSpecs(specs: readonly ToolSpec[], before: readonly ToolSpec[]): readonly ToolSpec[] {
  return specs.map((spec) => {
    const old = before.find(({ name }) => name === spec.name);
    return old !== undefined && JSON.stringify(old.input_schema) === JSON.stringify(spec.input_schema) ? old : spec;
  });
}
