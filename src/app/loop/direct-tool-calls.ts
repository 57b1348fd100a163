import { stat } from 'node:fs/promises';
import type { ServedCallOutcome, ServedToolCallContext } from '../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { CallRequest } from '../../contracts/tool.ts';
import { getErrorMessage, ignoreMissingFile } from '../../lib/errors.ts';
import { expandHomePath } from '../../lib/files/path-style.ts';
import { omitUndefined } from '../../lib/json.ts';
import { parseRuleTexts } from '../../permissions/rules/parse-rule.ts';
import { bashTraits } from '../../tools/bash/bash.ts';
import { readTraits } from '../../tools/read/read.ts';
import type { Core } from '../core.ts';
import type { QueryDepsFactory } from './query-deps-factory.ts';
import type { Toolset } from './toolset.ts';

/** Tool calls that no reply asked for. They use the same tools and the same permission gate. */
export type DirectToolCalls = {
  /** Calls a tool for another program. */
  call(name: string, input: JsonObject, caller: ServedToolCallContext): Promise<ServedCallOutcome>;
  /** Runs a shell line of a command file and returns its output for the prompt. `allowed`: rules of the file. */
  runShell(command: string, allowed: readonly string[]): Promise<string>;
  /** Reads a file for the prompt. `undefined` if it does not exist. */
  readFile(path: string): Promise<string | undefined>;
};

type DirectToolCallDeps = { readonly deps: QueryDepsFactory; readonly toolset: Toolset };

/** Creates the tool calls outside of replies. */
export function createDirectToolCalls(core: Core, { deps, toolset }: DirectToolCallDeps): DirectToolCalls {
  const { bus, live, cwd: root, environment, newId } = core;

  async function call(
    name: string,
    input: JsonObject,
    { signal, report, ask: askUser }: ServedToolCallContext,
    allowed: readonly string[] = [],
  ): Promise<ServedCallOutcome> {
    const tool = toolset.listEnabled().find((candidate) => candidate.name === name);
    if (tool === undefined) return { end: 'refused', content: `${name} is not available here` };
    const prepared = tool.prepare(input);
    if (!prepared.ok) return { end: 'refused', content: prepared.problem };
    const callId = `command-${newId()}`;
    const { cwd } = live.current();
    const rules = parseRuleTexts(allowed, 'allow', { source: 'session', root });
    const gate = deps.gate(bus.getPort(), { getRules: () => rules, ...omitUndefined({ askUser }) });

    /** Asks the gate and runs the call. If it does not stand by itself, the gate is asked once more, about that. */
    const admit = async (request: CallRequest): Promise<ServedCallOutcome> => {
      const verdict = await gate(request, {}, signal);
      const { trial: pending } = request;
      const isKept = verdict.behavior === 'allow' && verdict.input === request.input;
      if (pending?.is === 'pending' && !isKept) pending.discard();
      if (verdict.behavior === 'deny') return { end: 'refused', content: `not run: ${verdict.message}` };
      const approved = verdict.input === request.input ? prepared : tool.prepare(verdict.input);
      if (!approved.ok) return { end: 'refused', content: approved.problem };
      try {
        const limits = omitUndefined({ enforce: verdict.enforce, trial: isKept ? pending : undefined });
        const context = { callId, cwd, signal, report, ask: async () => undefined, ...limits };
        const { content, isError, blocked, trial } = await approved.call.call(context);
        const isFirst = (request.blocked ?? request.trial) === undefined;
        if (isFirst && (blocked ?? trial) !== undefined)
          return admit({ ...request, ...omitUndefined({ blocked, trial }) });
        return { end: isError === true ? 'failed' : 'done', content };
      } catch (thrown) {
        return { end: 'failed', content: getErrorMessage(thrown) };
      }
    };

    const { title, isReadOnly, shell, input: checkedInput } = prepared.call;
    return admit({ callId, tool: name, title, input: checkedInput, cwd, isReadOnly, ...omitUndefined({ shell }) });
  }

  return {
    call: (name, input, caller) => call(name, input, caller),
    runShell: async (command, allowed) =>
      formatOutcome(await call(bashTraits.name, { command }, createDetachedCaller(), allowed)),
    async readFile(path) {
      const file = expandHomePath(path, environment.home, live.current().cwd);
      // A missing file needs no permission prompt and no message.
      if ((await ignoreMissingFile(stat(file)))?.isFile() !== true) return undefined;
      return formatOutcome(await call(readTraits.name, { file_path: file }, createDetachedCaller()));
    },
  };
}

/** Formats an outcome as the text that replaces the line in a prompt. */
function formatOutcome({ end, content }: ServedCallOutcome): string {
  const text =
    typeof content === 'string'
      ? content
      : content.map((block) => (block.type === 'text' ? block.text : '(a picture)')).join('\n');
  return end === 'refused' ? `(${text})` : text;
}

/** Creates a caller without abort, progress and permission prompts. */
const createDetachedCaller = (): ServedToolCallContext => ({
  signal: new AbortController().signal,
  report: () => undefined,
  ask: undefined,
});
