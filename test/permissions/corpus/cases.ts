import type { Setup } from '../fixture.ts';

export type RuledCase = readonly [verdict: 'allow' | 'ask' | 'deny', command: string, setup: Setup];

export const denied = (setup: Setup, commands: readonly string[]) =>
  commands.map((command): RuledCase => ['deny', command, setup]);
export const asked = (setup: Setup, commands: readonly string[]) =>
  commands.map((command): RuledCase => ['ask', command, setup]);
export const allowed = (setup: Setup, commands: readonly string[]) =>
  commands.map((command): RuledCase => ['allow', command, setup]);
