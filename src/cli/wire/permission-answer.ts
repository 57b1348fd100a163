import { z } from 'zod';
import type { PermissionUpdate, UpdateDestination } from '../../contracts/face/host.ts';
import type { JsonObject } from '../../contracts/json.ts';
import { MODES, type PermissionAnswer } from '../../contracts/permission.ts';
import { exhaustive } from '../../lib/exhaustive.ts';

const destination = z
  .enum(['session', 'localSettings', 'projectSettings', 'userSettings', 'cliArg'])
  .transform((place): UpdateDestination => {
    switch (place) {
      case 'localSettings':
        return 'local';
      case 'projectSettings':
        return 'project';
      case 'userSettings':
        return 'user';
      case 'session':
      case 'cliArg':
        return 'session';
      default:
        return exhaustive(place);
    }
  });

const rule = z
  .object({ toolName: z.string(), ruleContent: z.string().optional() })
  .transform(({ toolName, ruleContent }) => (ruleContent === undefined ? toolName : `${toolName}(${ruleContent})`));

const mode = z.enum(MODES);

const update = z.union([
  z.object({
    type: z.enum(['addRules', 'replaceRules', 'removeRules']),
    rules: z.array(rule),
    behavior: z.enum(['allow', 'ask', 'deny']),
    destination,
  }),
  z.object({
    type: z.enum(['addDirectories', 'removeDirectories']),
    directories: z.array(z.string()),
    destination,
  }),
  z.object({ type: z.literal('setMode'), mode, destination }),
]);

const json: z.ZodType<JsonObject> = z.record(z.string(), z.json());

const answerSchema = z.union([
  z.object({
    behavior: z.literal('allow'),
    updatedInput: json.optional(),
    updatedPermissions: z.array(update).nullish(),
  }),
  z.object({ behavior: z.literal('deny'), message: z.string().optional(), interrupt: z.boolean().optional() }),
]);

/** What a host said to a question: the answer itself, and changes that go beyond it. */
export type HostAnswer = { readonly answer: PermissionAnswer; readonly updates: readonly PermissionUpdate[] };

/** Reads a host's answer. One that cannot be understood is a denial: silence never allows. */
export function readHostAnswer(value: unknown): HostAnswer {
  const read = answerSchema.safeParse(value);
  if (!read.success) {
    const message = `The host answered in a form that is not understood: ${read.error.issues[0]?.message ?? ''}`;
    return { answer: { behavior: 'deny', message }, updates: [] };
  }
  if (read.data.behavior === 'deny') {
    const { message, interrupt } = read.data;
    const answer = {
      behavior: 'deny' as const,
      ...(message === undefined ? {} : { message }),
      ...(interrupt === undefined ? {} : { interrupt }),
    };
    return { answer, updates: [] };
  }
  const { updatedInput, updatedPermissions } = read.data;
  const all = updatedPermissions ?? [];
  const setMode = all.findLast((one) => one.type === 'setMode');
  const allowing = all.find((one) => one.type === 'addRules' && one.behavior === 'allow');
  const remembered = allowing?.type === 'addRules' ? allowing : undefined;
  return {
    answer: {
      behavior: 'allow',
      ...(updatedInput === undefined ? {} : { updatedInput }),
      ...(setMode === undefined ? {} : { mode: setMode.mode }),
      ...(remembered === undefined
        ? {}
        : { remember: { rules: remembered.rules, destination: remembered.destination } }),
    },
    updates: all.filter((one) => one.type !== 'setMode').filter((one) => one !== remembered),
  };
}
