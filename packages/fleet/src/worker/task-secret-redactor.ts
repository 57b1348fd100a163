import type { Environment } from '@ouro-cli/ouro/commands';
import { z } from 'zod';
import type { TaskAttemptEnd, TaskVariables } from '../store/batch.ts';

/** Finds and redacts the secrets of this machine in results: its API keys, and secret variables passed to the task. */
export type TaskSecretRedactor = ReturnType<typeof createTaskSecretRedactor>;

/** Values that are long enough to be secrets. Short words such as "postgres" occur in texts by chance. */
const UNAMBIGUOUS = /^(?=.*\d).{8,}$|^.{16,}$/s;
/** Names of variables that hold credentials. */
const CREDENTIAL_NAME = /token|key|secret|pass|credential|auth/i;
const QUEUE_PASSWORD = 'PGPASSWORD';
const MASK = '[secret]';

/** Creates the redactor for a task. Unlike patterns it finds secrets by their value, whatever their form. */
export function createTaskSecretRedactor({ keys, variables }: Environment, spec: TaskVariables) {
  const { env, secrets = [] } = spec;
  const names = [...env.filter((name) => CREDENTIAL_NAME.test(name)), ...secrets, QUEUE_PASSWORD];
  const values = [...Object.values(keys), ...names.map((name) => variables[name] ?? '')].filter((value) =>
    UNAMBIGUOUS.test(value),
  );
  const encodings = [...new Set(values.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]))];
  // Longest first, because one may contain another.
  encodings.sort((a, b) => b.length - a.length);
  const redact = (text: string) => encodings.reduce((redacted, value) => redacted.replaceAll(value, MASK), text);
  return {
    redact,
    /** Redacts the secrets in the texts of an attempt's end. */
    redactEnd(ending: TaskAttemptEnd): TaskAttemptEnd {
      if (ending.kind !== 'done') return { ...ending, reason: redact(ending.reason) };
      const { result } = ending;
      const { answer, structured, notes } = result;
      return {
        ...ending,
        result: {
          ...result,
          answer: redact(answer),
          notes: notes.map(redact),
          ...(structured === undefined
            ? {}
            : { structured: z.json().parse(JSON.parse(redact(JSON.stringify(structured)))) }),
        },
      };
    },
    /** Returns whether a file contains a secret. */
    isContainedIn(bytes: Uint8Array): boolean {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return values.some((value) => buffer.includes(value));
    },
  };
}
