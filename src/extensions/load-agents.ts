import { z } from 'zod';
import type { AgentKind, ExtensionProblem, ExtensionSource, Loaded } from '../contracts/extension.ts';
import type { JsonValue } from '../contracts/json.ts';
import { markdownFiles } from '../lib/files/markdown-files.ts';
import { type FrontMatter, listFact, readFrontMatter, textFact } from '../lib/text/front-matter.ts';
import { BUILT_IN_AGENTS } from './built-in-agents.ts';
import type { ExtensionFolder } from './extension-folder.ts';

const MODES = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypassPermissions'] as const;

/** Kinds of sub-agents: flags and files before the built-in ones. */
export async function loadAgents(
  folders: readonly ExtensionFolder[],
  flag: JsonValue | undefined,
): Promise<Loaded<AgentKind>> {
  const items = new Map<string, AgentKind>();
  const problems: ExtensionProblem[] = [];
  const add = (kind: AgentKind, path: string) => {
    if (items.has(kind.name)) problems.push({ path, text: `is hidden by another sub-agent called ${kind.name}.` });
    else items.set(kind.name, kind);
  };
  const given = fromFlag(flag);
  problems.push(...given.problems);
  for (const kind of given.items) add(kind, '--agents');
  for (const { folder, source, admit } of folders) {
    for (const { path, name, text } of await markdownFiles(folder, admit)) {
      const { facts, body, problem } = await readFrontMatter(text);
      const description = textFact(facts, 'description');
      if (problem !== undefined)
        problems.push({ path, line: problem.line, text: `${problem.text}. The sub-agent is not offered.` });
      else if (description === undefined)
        problems.push({ path, line: 1, text: 'has no description in its head. The sub-agent is not offered.' });
      else add(kindOf(textFact(facts, 'name') ?? name, description, body, source, facts), path);
    }
  }
  for (const kind of BUILT_IN_AGENTS) if (!items.has(kind.name)) items.set(kind.name, kind);
  return { items: [...items.values()], problems };
}

function kindOf(
  name: string,
  description: string,
  body: string,
  source: ExtensionSource,
  facts: FrontMatter['facts'],
): AgentKind {
  const tools = listFact(facts, 'tools');
  const model = textFact(facts, 'model');
  const mode = MODES.find((known) => known === textFact(facts, 'permissionMode'));
  const maxTurns = Number(textFact(facts, 'maxTurns'));
  return {
    name,
    description,
    prompt: body.trim(),
    source,
    disallowedTools: listFact(facts, 'disallowedTools') ?? [],
    ...(tools === undefined || tools.includes('*') ? {} : { tools }),
    ...(model === undefined || model === 'inherit' ? {} : { model }),
    ...(mode === undefined ? {} : { permissionMode: mode }),
    ...(maxTurns > 0 ? { maxTurns } : {}),
  };
}

const flagSchema = z.record(
  z.string(),
  z.looseObject({
    description: z.string(),
    prompt: z.string(),
    tools: z.array(z.string()).optional(),
    disallowedTools: z.array(z.string()).optional(),
    model: z.string().optional(),
    permissionMode: z.enum(MODES).optional(),
    maxTurns: z.number().int().positive().optional(),
  }),
);

/** Sub-agents from `--agents` or from a host. */
function fromFlag(flag: JsonValue | undefined): Loaded<AgentKind> {
  if (flag === undefined) return { items: [], problems: [] };
  const parsed = flagSchema.safeParse(flag);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return {
      items: [],
      problems: [{ path: '--agents', text: `does not fit: ${issue?.path.join('.')} ${issue?.message}` }],
    };
  }
  const items = Object.entries(parsed.data).map(
    ([name, { description, prompt, tools, disallowedTools = [], model, permissionMode, maxTurns }]): AgentKind => ({
      name,
      description,
      prompt,
      source: 'flag',
      disallowedTools,
      ...(tools && { tools }),
      ...(model === undefined || model === 'inherit' ? {} : { model }),
      ...(permissionMode && { permissionMode }),
      ...(maxTurns && { maxTurns }),
    }),
  );
  return { items, problems: [] };
}
