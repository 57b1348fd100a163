import type { AgentKind } from '../contracts/extension.ts';

const LOOKING = ['Read', 'Glob', 'Grep', 'Bash', 'BashOutput', 'WebFetch', 'WebSearch', 'TodoWrite'];

/** Kinds of sub-agents that are always there. */
export const BUILT_IN_AGENTS: readonly AgentKind[] = [
  {
    name: 'general-purpose',
    description: 'any piece of work that stands on its own, reading and changing files included',
    prompt:
      'You do one task for a colleague who only sees your last message. Work on your own until it is done or cannot be done; nobody answers questions. End with what you found or changed, with paths and line numbers, and what is unsure.',
    source: 'builtin',
    disallowedTools: [],
  },
  {
    name: 'Explore',
    description: 'finding things out in the project, read-only: where something is, how it works, what uses it',
    prompt:
      'You find things out in this project and change nothing. Search wide first, then read what matters. Give back a short answer with paths and line numbers, quote only the lines that carry it, and say what you looked for and did not find.',
    source: 'builtin',
    tools: LOOKING,
    disallowedTools: [],
    permissionMode: 'plan',
  },
  {
    name: 'Plan',
    description: 'working out how a change should be made, read-only: steps, files, risks',
    prompt:
      'You work out how a change should be made and change nothing. Read the code it touches. Give back the steps in order with the files and functions of each, what could break, how to check it, and the decision you would make where there are several ways.',
    source: 'builtin',
    tools: LOOKING,
    disallowedTools: [],
    permissionMode: 'plan',
  },
];
