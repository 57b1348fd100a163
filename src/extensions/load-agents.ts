import { z } from 'zod';
import type { AgentKind, ExtensionProblem, Loaded } from '../contracts/extension.ts';
import { isJsonObject, type JsonValue } from '../contracts/json.ts';
import { markdownFiles } from '../lib/files/markdown-files.ts';
import { type FrontMatter, readFrontMatter, textFact } from '../lib/text/front-matter.ts';
import { agentFacts } from './agent-facts.ts';
import { BUILT_IN_AGENTS } from './built-in-agents.ts';
import type { ExtensionFolder } from './extension-folder.ts';
import { placedText } from './placed-text.ts';
import { unusedLine } from './unused-line.ts';

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
  for (const folder of folders) {
    const found = await inFolder(folder);
    problems.push(...found.problems);
    for (const kind of found.items) add(kind, kind.path ?? folder.folder);
  }
  for (const kind of BUILT_IN_AGENTS) if (!items.has(kind.name)) items.set(kind.name, kind);
  return { items: [...items.values()], problems };
}

/** Files that lie beside sub-agents in what people publish, and tell of them. */
const ABOUT = /(?:^|:)(?:readme|changelog|contributing|license|index|claude|agents)$/i;

async function inFolder({
  folder,
  source,
  admit,
  prefix = '',
  pluginVariables: plugin,
}: ExtensionFolder): Promise<Loaded<AgentKind>> {
  const items: AgentKind[] = [];
  const problems: ExtensionProblem[] = [];
  const unused = new Map<string, readonly string[]>();
  const { files, leftOut } = await markdownFiles(folder, admit);
  for (const { path, name, text } of files) {
    const { facts, body, problem } = await readFrontMatter(text);
    const description = textFact(facts, 'description');
    if (problem !== undefined)
      problems.push({ path, line: problem.line, text: `${problem.text}. The sub-agent is not offered.` });
    else if (description === undefined && ABOUT.test(name)) continue;
    else if (description === undefined)
      problems.push({ path, line: 1, text: 'has no description in its head. The sub-agent is not offered.' });
    else {
      const read = agentFacts(prefix === '' ? facts : withoutServers(facts));
      const called = `${prefix}${textFact(facts, 'name') ?? name}`;
      const prompt = plugin === undefined ? body : placedText(body, plugin);
      items.push({ ...read.kind, name: called, description, prompt: prompt.trim(), source, path });
      unused.set(path, read.unused);
    }
  }
  return { items, problems: [...leftOut, ...problems, ...unusedLine(folder, 'sub-agents', unused)] };
}

/** What a plugin would start is shown before it counts; what stands in the heads of its sub-agents is not. */
function withoutServers(facts: FrontMatter['facts']): FrontMatter['facts'] {
  const { mcpServers: named } = facts;
  return Array.isArray(named) ? { ...facts, mcpServers: named.filter((one) => typeof one === 'string') } : facts;
}

const flagSchema = z.record(z.string(), z.looseObject({ description: z.string(), prompt: z.string() }));

/** Sub-agents from `--agents` or from a host. */
function fromFlag(flag: JsonValue | undefined): Loaded<AgentKind> {
  if (flag === undefined) return { items: [], problems: [] };
  const path = '--agents';
  const parsed = flagSchema.safeParse(flag);
  if (!parsed.success || !isJsonObject(flag)) {
    const issue = parsed.error?.issues[0];
    return { items: [], problems: [{ path, text: `does not fit: ${issue?.path.join('.')} ${issue?.message}` }] };
  }
  const read = Object.entries(parsed.data).map(([name, { description, prompt, ...facts }]) => {
    const { kind, unused } = agentFacts(facts);
    return { kind: { ...kind, name, description, prompt, source: 'flag' as const }, unused };
  });
  const unused = new Map(read.map(({ kind, unused: fields }) => [kind.name, fields]));
  return { items: read.map(({ kind }) => kind), problems: unusedLine(path, 'sub-agents', unused) };
}
