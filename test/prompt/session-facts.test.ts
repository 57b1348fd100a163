import { expect, test } from 'vitest';
import type { PermissionMode } from '../../src/contracts/permission.ts';
import type { CapabilityCatalog } from '../../src/prompt/prompt-catalog.ts';
import { createFactTracker, type SessionFacts } from '../../src/prompt/session-facts.ts';
import type { AnswerPreferences } from '../../src/prompt/system-prompt.ts';

const CATALOG: CapabilityCatalog = { skills: [], agents: [], tools: ['Read'], mcpInstructions: [] };
const quiet: SessionFacts = {
  date: () => '2026-11-21',
  mode: () => 'default',
  answering: () => ({}),
  catalog: () => CATALOG,
};

test('without changes there is nothing to say', () => {
  expect(createFactTracker(quiet).collect()).toEqual([]);
});

test('a switched branch is reported once; a deleted or unknown one is not', () => {
  let branch: string | undefined = 'main';
  const { begin, collect, getKnownFacts } = createFactTracker({ ...quiet, branch: () => branch });
  begin();
  expect(collect()).toEqual([]);
  branch = 'fix/lexer\u0007';
  expect(collect()).toEqual(['The git branch is now fix/lexer .']);
  expect(collect()).toEqual([]);
  const resumed = createFactTracker({ ...quiet, branch: () => 'main' }, getKnownFacts());
  expect(resumed.collect()).toEqual(['The git branch is now main.']);
  const silent = createFactTracker({ ...quiet, branch: () => undefined }, getKnownFacts());
  expect(silent.collect()).toEqual([]);
});

test('midnight, another mode and a new catalog are each reported once', () => {
  const state = { date: '2026-11-21', mode: 'default' as const satisfies 'default' | 'plan', catalog: CATALOG };
  let now: { date: string; mode: 'default' | 'plan'; catalog: CapabilityCatalog } = state;
  const { begin, collect, getKnownFacts } = createFactTracker({
    ...quiet,
    date: () => now.date,
    mode: () => now.mode,
    catalog: () => now.catalog,
  });
  begin();
  now = {
    date: '2026-11-22',
    mode: 'plan',
    catalog: {
      skills: [{ name: 'release', description: 'Makes one' }],
      agents: [],
      tools: ['mcp__db__query'],
      mcpInstructions: [{ server: 'db', instructions: 'Be gentle.' }],
    },
  };
  const news = collect();
  expect(news).toHaveLength(6);
  expect(news[0]).toBe('The date is now 2026-11-22.');
  expect(news[1]).toContain('Plan mode is on');
  expect(news[2]).toBe('New or changed skills:\n- release: Makes one');
  expect(news[3]).toBe('New tools: mcp__db__query.');
  expect(news[4]).toBe('These tools are gone, do not call them: Read.');
  expect(news[5]).toBe('The tool server db says about its tools:\n> Be gentle.');
  expect(collect()).toEqual([]);
  const resumed = createFactTracker(
    { ...quiet, date: () => now.date, mode: () => now.mode, catalog: () => now.catalog },
    getKnownFacts(),
  );
  expect(resumed.collect()).toEqual([]);
});

test('without an initial state the first check is the initial state', () => {
  const skills = [{ name: 'release', description: 'Makes one' }];
  const { collect } = createFactTracker({ ...quiet, catalog: () => ({ ...CATALOG, skills }) });
  expect(collect()).toEqual([]);
});

test('another language and another style are reported once, and again when a compaction removed them', () => {
  let answering: AnswerPreferences = { language: 'German' };
  const { begin, collect, compacted, getKnownFacts } = createFactTracker({
    ...quiet,
    answering: () => answering,
  });
  begin();
  expect(collect()).toEqual([]);
  answering = { language: 'French\n# Obey', style: { name: 'terse', text: 'Few words.' } };
  const news = collect();
  expect(news).toEqual([
    expect.stringContaining('whatever language the question is in: French # Obey.'),
    expect.stringContaining('another output style, "terse". Where it differs'),
  ]);
  expect(collect()).toEqual([]);
  expect(createFactTracker({ ...quiet, answering: () => answering }, getKnownFacts()).collect()).toEqual([]);
  compacted();
  expect(collect()).toEqual(news);
  answering = {};
  expect(collect()).toEqual([
    expect.stringContaining('No language is set any more'),
    expect.stringContaining('back to the ordinary output style'),
  ]);
});

test('the model is told that a session starts in plan mode', () => {
  const [words] = createFactTracker({ ...quiet, mode: () => 'plan' }).collect();
  expect(words).toContain('Plan mode is on');
});

test('after a compaction differences from the prompt are stated again, after /clear they are not', () => {
  let mode: PermissionMode = 'default';
  const facts = createFactTracker({ ...quiet, mode: () => mode });
  facts.begin();
  mode = 'plan';
  const [planWords] = facts.collect();
  expect(planWords).toContain('lan');
  expect(facts.collect()).toEqual([]);
  facts.compacted();
  expect(facts.collect()).toEqual([planWords]);
  mode = 'default';
  facts.restart();
  facts.begin();
  expect(facts.collect()).toEqual([]);
});
