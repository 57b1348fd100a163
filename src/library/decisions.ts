import { homedir } from 'node:os';
import { delimiter } from 'node:path';
import type { JsonObject } from '../contracts/json.ts';
import type { Decision, PermissionMode, Policy } from '../contracts/permission.ts';
import type { Tool } from '../contracts/tool.ts';
import { decide } from '../permissions/decide.ts';
import { type FactsOf, factsFrom } from '../permissions/facts.ts';
import { diskFs } from '../permissions/paths/fs.ts';
import { rulesOfTexts } from '../permissions/rules/collect-rules.ts';
import { TOOL_STATEMENTS } from '../tools/statements.ts';
import { processVariables } from './surroundings.ts';

/** What is decided by: rules, a mode, and the folders that are worked in. */
export type Rules = {
  /** The folder that is worked in: what lies in it may be read. */
  readonly cwd: string;
  readonly mode?: PermissionMode;
  /** Rules as in a settings file: `Bash(npm test:*)`, `Read(.env)`, `WebFetch(domain:example.com)`. */
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  /** More folders that may be worked in. */
  readonly directories?: readonly string[];
  /** What `~` stands for. */
  readonly home?: string;
};

/** A call that nobody has made yet. */
export type CallQuestion = {
  readonly tool: string;
  readonly input: JsonObject;
  /** The folder it would start in; left out, that of the rules. */
  readonly cwd?: string;
};

/** What would become of a call: allow, ask or deny, why, and by which rules. The disk is looked at; nothing runs. */
export function decisionOf(rules: Rules & { readonly tools?: readonly Tool[] }, call: CallQuestion): Decision {
  const { tool, input, cwd = rules.cwd } = call;
  return decide(factsOfTools(rules.tools ?? [])(tool, input, cwd), policyOf(rules, cwd), diskFs);
}

/** What calls would touch, as their tools say: those given, and the built-in ones. */
export function factsOfTools(tools: readonly Tool[]): FactsOf {
  const own = tools.flatMap(({ statement }) => statement ?? []);
  return factsFrom([...TOOL_STATEMENTS, ...own]);
}

/** Rules as `decide` takes them, for a call that starts in one folder. */
export function policyOf(rules: Rules, cwd: string): Policy {
  const { allow = [], ask = [], deny = [], mode = 'default', directories = [], home = homedir() } = rules;
  const origin = { source: 'flag', root: rules.cwd } as const;
  return {
    mode,
    rules: [
      ...rulesOfTexts(deny, 'deny', origin),
      ...rulesOfTexts(ask, 'ask', origin),
      ...rulesOfTexts(allow, 'allow', origin),
    ],
    workspaceRoots: [rules.cwd, ...directories],
    cwd,
    home,
    trusted: true,
    canBypass: mode === 'bypassPermissions',
    protectedPaths: [],
    sensitivePaths: [],
    searchPath: (processVariables().PATH ?? '').split(delimiter),
    disk: process.platform === 'darwin' || process.platform === 'win32' ? 'case-insensitive' : 'case-sensitive',
  };
}
