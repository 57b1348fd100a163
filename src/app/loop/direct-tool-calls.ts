import { stat } from 'node:fs/promises';
import type { ServedCallOutcome, ServedToolCallContext } from '../../contracts/frontend/host-capabilities.ts';
import type { JsonObject } from '../../contracts/json.ts';
import type { CallRequest } from '../../contracts/tool.ts';
import { getErrorMessage, ignoreMissingFile } from '../../lib/errors.ts';
import { expandHomePath } from '../../lib/files/path-style.ts';
import { parseRuleTexts } from '../../permissions/rules/parse-rule.ts';
import { bashTraits } from '../../tools/bash/bash.ts';
import { readTraits } from '../../tools/read/read.ts';
import type { Core } from '../core.ts';
import type { QueryDepsFactory } from './query-deps-factory.ts';
import type { Toolset } from './toolset.ts';

/** Tool calls that no reply asked for. They use the same tools and the same permission gate. */
export type DirectToolCalls = ReturnType<typeof createDirectToolCalls>;

type GatedCallDeps = { readonly deps: QueryDepsFactory; readonly toolset: Toolset };

/** Creates the tool calls outside of replies. */
export function createDirectToolCalls(
  { bus, live, cwd: root, environment, newId }: Core,
  { deps, toolset }: GatedCallDeps,
) {
  const cwd = () => live.current().cwd;

  async function call(
    name: string,
    input: JsonObject,
    { signal, report, ask: askUser }: ServedToolCallContext,
    allowed: readonly string[] = [],
  ): Promise<ServedCallOutcome> {
    const tool = toolset.listEnabled().find((candidate) => candidate.name === name);
    const prepared = tool?.prepare(input);
    if (prepared === undefined) return { end: 'refused', content: `${name} is not available here` };
    if (!prepared.ok) return { end: 'refused', content: prepared.problem };
    const { title, isReadOnly, shell } = prepared.call;
    const callId = `command-${newId()}`;
    const rules = parseRuleTexts(allowed, 'allow', { source: 'session', root });
    const at = cwd();
    const request = { callId, tool: name, title, input: prepared.call.input, cwd: at, isReadOnly };
    const gate = deps.gate(bus.getPort(), {
      getRules: () => rules,
      ...(askUser === undefined ? {} : { askUser }),
    });
    return admit(shell === undefined ? request : { ...request, shell });

    /** Asks the gate and runs the call. If its limits block an effect, the gate is asked once more, about that. */
    async function admit(asked: CallRequest): Promise<ServedCallOutcome> {
      const verdict = await gate(asked, {}, signal);
      if (verdict.behavior === 'deny') return { end: 'refused', content: `not run: ${verdict.message}` };
      const approved = verdict.input === request.input ? prepared : tool?.prepare(verdict.input);
      if (approved?.ok !== true)
        return { end: 'refused', content: approved?.problem ?? `${name} is not available here` };
      try {
        const limits = verdict.enforce === undefined ? {} : { enforce: verdict.enforce };
        const context = { callId, cwd: at, signal, report, ask: async () => undefined, ...limits };
        const { content, isError, blocked } = await approved.call.call(context);
        if (blocked !== undefined && asked.blocked === undefined) return admit({ ...asked, blocked });
        return { end: isError === true ? 'failed' : 'done', content };
      } catch (thrown) {
        return { end: 'failed', content: getErrorMessage(thrown) };
      }
    }
  }

  /** Returns the text that replaces the line in the prompt. */
  const formatOutcome = async (outcome: Promise<ServedCallOutcome>) => {
    const { end, content } = await outcome;
    const text =
      typeof content === 'string'
        ? content
        : content.map((block) => (block.type === 'text' ? block.text : '(a picture)')).join('\n');
    return end === 'refused' ? `(${text})` : text;
  };

  return {
    /** Calls a tool for another program. */
    call: (name: string, input: JsonObject, caller: ServedToolCallContext): Promise<ServedCallOutcome> =>
      call(name, input, caller),
    /** Runs a shell line of a command file and returns its output for the prompt. `allowed`: rules of the file. */
    runShell: (command: string, allowed: readonly string[]): Promise<string> =>
      formatOutcome(call(bashTraits.name, { command }, createDetachedCaller(), allowed)),
    /** Reads a file for the prompt. `undefined` if it does not exist. */
    async readFile(path: string): Promise<string | undefined> {
      const file = expandHomePath(path, environment.home, cwd());
      // A missing file needs no permission prompt and no message.
      if ((await ignoreMissingFile(stat(file)))?.isFile() !== true) return undefined;
      return formatOutcome(call(readTraits.name, { file_path: file }, createDetachedCaller()));
    },
  };
}

/** Creates a caller without abort, progress and permission prompts. */
const createDetachedCaller = (): ServedToolCallContext => ({
  signal: new AbortController().signal,
  report: () => undefined,
  ask: undefined,
});
