/**
 * A review bot: looks at what changed since a commit, reads what it needs, and may change nothing.
 * Run it in a repository, with `ANTHROPIC_API_KEY` set: node review-bot.mjs HEAD~1
 */
import { buildTool, createAgent, rulesGate } from 'ouro';
import { bashTool, grepTool, readTool } from 'ouro/tools';
import { z } from 'zod';

const since = process.argv[2] ?? 'HEAD~1';
const cwd = process.cwd();
// ouro's own rules: commands that certainly only look run, everything else is refused, since nobody is there to ask.
const place = { cwd, gate: rulesGate({ cwd, deny: ['Read(.env)'] }) };

const findings = [];
const report = buildTool({
  name: 'Report',
  prompt: 'Reports one mistake. Call it once for each.',
  input: z.object({ file: z.string(), line: z.number().int(), what: z.string() }),
  isConcurrencySafe: () => true,
  call: async (finding) => {
    findings.push(finding);
    return { content: 'Noted.' };
  },
});

const agent = createAgent({
  systemPrompt: 'You review changes. Report mistakes that matter, nothing else. When you have seen all, say so.',
  tools: [bashTool(place), grepTool(place), readTool(place), report],
  cwd,
  maxTurns: 30,
  maxBudgetUsd: 1,
});

const end = await agent.prompt(`Review the changes since ${since}: begin with git diff ${since}`);
for (const { file, line, what } of findings) console.log(`${file}:${line}: ${what}`);
if (end.reason !== 'completed') console.error(`The review did not end well: ${end.words ?? end.reason}`);
process.exitCode = end.reason === 'completed' && findings.length === 0 ? 0 : 1;
