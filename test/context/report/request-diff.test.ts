import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import type { ContextDecision } from '../../../src/context/reduction-log.ts';
import { createPromptCacheMonitor } from '../../../src/context/report/prompt-cache-monitor.ts';
import type { Message } from '../../../src/contracts/message.ts';
import type { SystemPart } from '../../../src/contracts/model.ts';
import type { PermissionMode } from '../../../src/contracts/permission.ts';
import { query } from '../../../src/engine/query.ts';
import { wrapInReminder } from '../../../src/lib/text/reminder.ts';
import { createMemoryFeature } from '../../../src/prompt/memory/memory-feature.ts';
import { createSessionMemory } from '../../../src/prompt/memory/session-memory-files.ts';
import { createFactTracker, type ModelKnownFacts } from '../../../src/prompt/session-facts.ts';
import { createSystemPrompt, renderSystemPrompt } from '../../../src/prompt/system-prompt.ts';
import { drain } from '../../support/loop/drain.ts';
import { buildHistory, calls, echoTool, says, scripted } from '../../support/loop/scripted.ts';
import { runs } from '../../support/runs.ts';
import { createTempFolder } from '../../support/temp-folder.ts';
import { bench, INFO, prompt, words } from '../workbench.ts';

let root: string;
beforeEach(async () => {
  root = createTempFolder();
});

const MODES: readonly PermissionMode[] = ['default', 'plan', 'acceptEdits'];
const STEPS = ['ask', 'ask', 'work', 'work', 'mode', 'memory', 'mcp', 'midnight', 'skill', 'resume', 'model'] as const;
const SMALL = { ...INFO, contextWindow: 24_000, defaultOutputTokens: 1_000 };

/** One session as its parts see it; `resume` makes them anew from what was kept. */
function session() {
  const file = join(root, 'CLAUDE.md');
  const world = {
    day: 1,
    mode: MODES[0] ?? 'default',
    tools: ['Echo'],
    skills: [{ name: 'one', description: 'first' }],
    edits: 0,
    model: 'model-a',
  };
  const watch = createPromptCacheMonitor();
  let kept: {
    reported: ModelKnownFacts | undefined;
    system: readonly SystemPart[] | undefined;
    decisions: readonly ContextDecision[];
  } = {
    reported: undefined,
    system: undefined,
    decisions: [],
  };
  let messages: readonly Message[] = [];

  function open() {
    const memory = createSessionMemory({
      cwd: () => root,
      root,
      home: root,
      globalFiles: [],
      isTrusted: () => true,
      mayRead: () => ({ ok: true }),
    });
    const date = () => `2026-01-${String(world.day).padStart(2, '0')}`;
    const system = createSystemPrompt(
      async () =>
        renderSystemPrompt({
          memory: await memory.load(),
          skills: world.skills,
          agents: [],
          environment: {
            cwd: root,
            additionalDirectories: [],
            platform: 'linux',
            osRelease: '6',
            shell: '/bin/sh',
            date: date(),
            git: undefined,
          },
          mcp: [],
        }),
      kept.system,
    );
    const facts = createFactTracker(
      {
        date,
        answering: () => ({}),
        mode: () => world.mode,
        catalog: () => ({ skills: world.skills, agents: [], tools: world.tools, mcpInstructions: [] }),
      },
      kept.reported,
    );
    const { reminders: remindOfMemory } = createMemoryFeature(memory, { cwd: () => root, home: root });
    const remind = async (signal: AbortSignal) => [
      ...facts.collect().map(wrapInReminder),
      ...((await remindOfMemory?.('turn', signal)) ?? []),
    ];
    const made = bench({
      modelInfo: () => SMALL,
      onLevel: (run) => {
        if (run.level !== 'budget') watch.announceChange(run.level);
      },
    });
    made.context.restore(structuredClone(kept.decisions));
    return { system, facts, memory, remind, context: made.context };
  }

  let parts = open();
  let turn = 0;

  async function ask(work: 'talks' | 'works') {
    turn += 1;
    const { system, facts, memory, remind, context } = parts;
    await system.ready();
    facts.begin();
    const news = await remind(new AbortController().signal);
    const blocks = [`Step ${turn}.`, ...news].map((text) => ({ type: 'text' as const, text }));
    messages = [...messages, { ...prompt(`p${turn}`, ''), role: 'user', origin: 'prompt', blocks }];
    const found: string[] = [];
    const deps = scripted(work === 'works' ? [calls({ name: 'Echo', id: `c${turn}` }), says('done')] : [says('said')], {
      config: { chain: [{ model: world.model }] },
      context,
      modelInfo: () => SMALL,
      system: system.parts,
      tools: () =>
        world.tools.map((name) => echoTool({ name, call: async () => ({ content: words(8_000, `r${turn}`) }) })),
      attachments: remind,
      newId: () => crypto.randomUUID(),
      transformRequest: (request) => {
        const divergence = watch.recordRequest(request);
        if (divergence !== undefined) found.push(`${divergence.location.part}: ${divergence.cause}`);
        return request;
      },
    });
    const { events } = await drain(query(messages, deps, new AbortController().signal));
    messages = buildHistory(messages, events);
    if (events.some((event) => event.type === 'compacted')) {
      facts.compacted();
      memory.compacted();
    }
    return found;
  }

  async function take(step: (typeof STEPS)[number]): Promise<readonly string[]> {
    switch (step) {
      case 'ask':
        return ask('talks');
      case 'work':
        return ask('works');
      case 'mode':
        world.mode = MODES[(MODES.indexOf(world.mode) + 1) % MODES.length] ?? 'default';
        return ask('talks');
      case 'memory':
        world.edits += 1;
        await writeFile(file, `Rule number ${world.edits}.`);
        await utimes(file, world.edits, world.edits);
        return ask('talks');
      case 'mcp':
        world.tools = [...world.tools, `mcp__s__t${world.tools.length}`];
        return ask('works');
      case 'midnight':
        world.day += 1;
        return ask('talks');
      case 'skill':
        world.skills = [...world.skills, { name: `skill${world.skills.length}`, description: 'more' }];
        return ask('talks');
      case 'model':
        world.model = `${world.model}+`;
        return ask('talks');
      case 'resume':
        kept = {
          reported: structuredClone(parts.facts.getKnownFacts()),
          system: structuredClone(parts.system.parts().length === 0 ? undefined : parts.system.parts()),
          decisions: structuredClone(parts.context.decisions()),
        };
        messages = structuredClone(messages);
        parts = open();
        return ask('talks');
    }
  }

  return { take, start: () => writeFile(file, 'Rule number 0.') };
}

const LEVELS = /^message: (?:(?:snip|microcompact|collapse|compact)(?:, )?)+$/;

test('with modes, memory edits, tool servers, midnight, new skills and resumes only documented causes break the prefix', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { minLength: 6, maxLength: 24 }), async (steps) => {
      const { take, start } = session();
      await start();
      await take('ask');
      for (const step of steps) {
        const [first, ...rest] = await take(step);
        const isLevel = first === undefined || LEVELS.test(first);
        if (step === 'mcp') expect(first).toMatch(/^tools: added mcp__s__t\d+$/);
        else if (step === 'model') expect(first).toMatch(/^model: the model changed from/);
        else expect({ step, first, isLevel }).toEqual({ step, first, isLevel: true });
        for (const cause of rest) expect(cause).toMatch(LEVELS);
      }
    }),
    runs(25),
  );
});
