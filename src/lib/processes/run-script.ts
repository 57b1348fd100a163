import { randomUUID } from 'node:crypto';
import { branding, MARKER } from './brand.ts';
import { startTimeOf } from './process-facts.ts';
import { endTree } from './process-tree.ts';
import { type ProgramEnd, type ProgramOptions, runProgram } from './run-program.ts';

/** How the system's own shells begin, without what a person has set up for theirs. */
const SHELLS = { bash: ['/bin/bash', '--noprofile', '--norc', '-c'], sh: ['/bin/sh', '-c'] } as const;

/**
 * Runs a line of somebody's own in a shell, as `runProgram` does. When it is over nothing of it is left: neither what
 * went into the background nor what detached itself, cleared its environment or took another name.
 */
export async function runScript(
  shell: keyof typeof SHELLS,
  line: string,
  options: ProgramOptions & Required<Pick<ProgramOptions, 'env'>>,
): Promise<ProgramEnd> {
  const marker = randomUUID();
  const env = { ...options.env, [MARKER]: marker };
  const [file, ...args] = SHELLS[shell];
  let custody: Promise<void> | undefined;
  const end = await runProgram(file, [...args, branding(env) + line], { ...options, env }, (groupId) => {
    const startTime = startTimeOf(groupId) ?? '';
    return () => {
      custody = endTree({ groupId, marker, startTime }, () => true);
    };
  });
  await custody;
  return end;
}
