import { expect, test } from 'vitest';
import type { CallRequest, GateVerdict, ToolOutcome } from '../../../src/contracts/tool.ts';
import { query } from '../../../src/engine/query.ts';
import { drain } from '../../support/loop/drain.ts';
import { buildHistory, calls, echoTool, scripted, userSays } from '../../support/loop/scripted.ts';

const PROMPT = [userSays('do it')];
const LIMITS = { kind: 'read-only', readable: [] } as const;
const BLOCKED = [{ kind: 'write', path: '/x' }] as const;

/** Runs one call of a tool that needs more than reading; `second` answers the gate's second question. */
async function run(second: (request: CallRequest) => GateVerdict, outcome: ToolOutcome) {
  const asked: CallRequest['blocked'][] = [];
  const limits: unknown[] = [];
  const after: unknown[] = [];
  const tool = echoTool({
    async call(_input, { enforce }) {
      limits.push(enforce);
      return enforce === undefined ? { content: 'written' } : outcome;
    },
  });
  const { events } = await drain(
    query(
      PROMPT,
      scripted([calls('Echo')], {
        tools: () => [tool],
        async gate(request) {
          asked.push(request.blocked);
          return request.blocked === undefined
            ? { behavior: 'allow', input: request.input, enforce: LIMITS }
            : second(request);
        },
        async afterCall(_request, { content }) {
          after.push(content);
          return {};
        },
      }),
      new AbortController().signal,
    ),
  );
  const message = buildHistory(PROMPT, events)[2];
  const results =
    message?.role === 'user' ? message.blocks.flatMap((block) => ('content' in block ? [block] : [])) : [];
  return { asked, limits, after, results: results.map(({ content }) => content) };
}

const FAILED: ToolOutcome = { content: 'read-only file system', isError: true, blocked: BLOCKED };

test('a call blocked by its limits asks again, and only the result of the second run counts', async () => {
  expect(await run(({ input }) => ({ behavior: 'allow', input }), FAILED)).toEqual({
    asked: [undefined, BLOCKED],
    limits: [LIMITS, undefined],
    after: ['written'],
    results: ['written'],
  });
});

test('when the second question is refused, the model gets the refusal and not the failed output', async () => {
  const refused = await run(() => ({ behavior: 'deny', message: 'not allowed to write', interrupt: false }), FAILED);
  expect(refused).toEqual({
    asked: [undefined, BLOCKED],
    limits: [LIMITS],
    after: [],
    results: ['not allowed to write'],
  });
});

test('a call that fails for another reason asks once', async () => {
  const failed = await run(({ input }) => ({ behavior: 'allow', input }), { content: 'no such file', isError: true });
  expect(failed).toEqual({ asked: [undefined], limits: [LIMITS], after: ['no such file'], results: ['no such file'] });
});

test('a second block is not asked about again', async () => {
  const stopped = await run(({ input }) => ({ behavior: 'allow', input, enforce: LIMITS }), FAILED);
  expect(stopped).toMatchObject({ asked: [undefined, BLOCKED], results: ['read-only file system'] });
});
