import type { AgentKind } from '../contracts/extension.ts';
import type { RunOptions } from '../contracts/face/run-options.ts';
import { nearest } from '../lib/text/nearest.ts';
import { stricterMode } from './tools-of-agent.ts';

export type AsAgent =
  | { readonly ok: true; readonly options: RunOptions }
  | { readonly ok: false; readonly problem: string };

/** `--agent`: the whole conversation is held as this sub-agent. What the command line says itself still wins. */
export function asAgent(options: RunOptions, kinds: readonly AgentKind[]): AsAgent {
  if (options.agent === undefined) return { ok: true, options };
  const kind = kinds.find(({ name }) => name === options.agent);
  if (kind === undefined) return { ok: false, problem: unknownAgent(options.agent, kinds) };
  const { model, tools, maxTurns } = kind;
  // A file of the project may tighten what is asked, never loosen it.
  const wanted = kind.permissionMode;
  const permissionMode = wanted !== undefined && kind.source === 'project' ? stricterMode('default', wanted) : wanted;
  return {
    ok: true,
    options: {
      ...(model === undefined ? {} : { model }),
      ...(tools === undefined ? {} : { tools }),
      ...(permissionMode === undefined ? {} : { permissionMode }),
      ...(maxTurns === undefined ? {} : { maxTurns }),
      ...options,
      // Hosts send an empty prompt when they have none of their own.
      systemPrompt: options.systemPrompt || kind.prompt,
      disallowedTools: [...(options.disallowedTools ?? []), ...kind.disallowedTools],
    },
  };
}

function unknownAgent(name: string, kinds: readonly AgentKind[]): string {
  const names = kinds.map((kind) => kind.name);
  const meant = nearest(name, names);
  const help = meant === undefined ? `There are: ${names.join(', ')}.` : `Did you mean ${meant}?`;
  return `There is no agent "${name}" to start as. ${help}`;
}
