import { z } from 'zod';
import type { Environment } from '../../contracts/environment.ts';
import type { Ending, TaskSpec } from '../../contracts/fleet.ts';

/** What a task has no business to hand in: the keys of this machine, and the values it fills in for the task. */
export type OwnSecrets = {
  hide(text: string): string;
  hideIn(ending: Ending): Ending;
  isIn(bytes: Uint8Array): boolean;
};

/** Words like "postgres" or "not-needed" stand in texts by chance. */
const TELLING = /^(?=.*\d).{8,}$|^.{16,}$/s;
/** Of the variables a task is given, those that are there to let somebody in. */
const LETS_IN = /token|key|secret|pass|credential|auth/i;
const QUEUE_PASSWORD = 'PGPASSWORD';
const MASK = '[secret]';

/** Patterns know keys by their shape; these are known by their value, whatever they look like. */
export function ownSecrets({ keys, variables }: Environment, spec: Pick<TaskSpec, 'env'>): OwnSecrets {
  const named = [...spec.env.filter((name) => LETS_IN.test(name)), QUEUE_PASSWORD].map((name) => variables[name] ?? '');
  const values = [...Object.values(keys), ...named].filter((value) => TELLING.test(value));
  const spellings = [...new Set(values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]))];
  // The longest first: one may be a part of another.
  spellings.sort((a, b) => b.length - a.length);
  const hide = (text: string) => spellings.reduce((clean, value) => clean.replaceAll(value, MASK), text);
  return {
    hide,
    hideIn(ending) {
      if (ending.kind !== 'done') return { ...ending, reason: hide(ending.reason) };
      const { result } = ending;
      const { answer, structured, notes } = result;
      return {
        ...ending,
        result: {
          ...result,
          answer: hide(answer),
          notes: notes.map(hide),
          ...(structured === undefined
            ? {}
            : { structured: z.json().parse(JSON.parse(hide(JSON.stringify(structured)))) }),
        },
      };
    },
    isIn(bytes) {
      const held = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return values.some((value) => held.includes(value));
    },
  };
}
