import { randomUUID } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { startTimeOf } from '../lib/processes/process-facts.ts';
import { guardedLinks, guardedPlaces, placesToCover, strayFiles } from './guarded.ts';
import type { SandboxPlan } from './plan.ts';

/** What is made so that something guards it, by path; and links as they were. */
export type Covers = {
  /** Makes what is to be guarded and is not there; a command of this plan is about to run. */
  cover(plan: SandboxPlan): void;
  /** A command ended: what would lead git elsewhere goes, and links are as they were. */
  mend(): void;
  /** No command of this conversation runs any more: what was made goes, unless another one needs it. */
  uncover(): void;
};

const claimSchema = z.object({
  pid: z.number(),
  startTime: z.string().optional(),
  /** What commands that run now rely on. */
  uses: z.array(z.string()),
  made: z.array(z.tuple([z.string(), z.enum(['folder', 'file'])])),
});
type Claim = z.infer<typeof claimSchema>;

/**
 * Several programs may work in one folder, and one that ends must not take away what guards the commands of another:
 * each writes down what it made and what it relies on, in a file of its own. What a crash left behind goes with the
 * next command that ends.
 */
export function createCovers(folder: string, name: string): Covers {
  const own = join(folder, `${name}.json`);
  let claim: Claim = { pid: process.pid, startTime: startTimeOf(process.pid), uses: [], made: [] };
  const stray = new Set<string>();
  const links = new Map<string, string>();

  function keep(next: Claim): void {
    claim = next;
    if (next.uses.length + next.made.length === 0) {
      // A home that cannot be written has no such file, and removing it there fails.
      if (existsSync(own)) rmSync(own, { force: true });
      return;
    }
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(own, JSON.stringify(next), { mode: 0o600 });
  }

  return {
    cover(plan) {
      for (const path of strayFiles(plan)) stray.add(path);
      for (const path of guardedLinks(plan)) links.set(path, links.get(path) ?? readlinkSync(path));
      const missing = placesToCover(plan).flatMap(({ path, as }) => [
        ...missingAbove(path).map((above): Claim['made'][number] => [above, 'folder']),
        [path, as] satisfies Claim['made'][number],
      ]);
      const uses = [...claim.uses, ...guardedPlaces(plan).map(({ path }) => path)];
      keep({ ...claim, uses: [...new Set(uses)], made: [...claim.made, ...missing] });
      for (const [path, as] of missing) if (as === 'folder') mkdirSync(path, { mode: 0o700, recursive: true });
    },
    mend() {
      for (const path of stray) rmSync(path, { recursive: true, force: true });
      stray.clear();
      for (const [path, target] of links) putBack(path, target);
    },
    uncover() {
      links.clear();
      keep({ ...claim, uses: [] });
      const claims = claimsIn(folder);
      const needed = new Set(claims.filter(isAlive).flatMap(({ uses }) => uses));
      const isNeeded = ([path]: Claim['made'][number]) =>
        needed.has(path) || [...needed].some((each) => each.startsWith(`${path}/`));
      for (const { file, made, ...one } of claims) {
        for (const each of made.toReversed()) if (!isNeeded(each)) takeAway(each);
        if (!isAlive(one) && !made.some(isNeeded)) rmSync(file, { force: true });
      }
      keep({ ...claim, made: claim.made.filter(isNeeded) });
    },
  };
}

function missingAbove(path: string): readonly string[] {
  const above = dirname(path);
  if (above === path || lstatSync(above, { throwIfNoEntry: false }) !== undefined) return [];
  return [...missingAbove(above), above];
}

/** Only what is as empty as it was made. */
function takeAway([path, as]: Claim['made'][number]): void {
  try {
    if (as === 'folder') rmdirSync(path);
    else if (lstatSync(path).isFile() && lstatSync(path).size === 0) unlinkSync(path);
  } catch {
    // Somebody put something into it, or took it away: then it stays as it is.
  }
}

/** A link that a command put something else in the place of leads where it led. */
function putBack(path: string, target: string): void {
  const isAsItWas = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(path) === target;
  if (isAsItWas) return;
  // Moved aside, not deleted: somebody outside may have put it there.
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    renameSync(path, `${path}.replaced-${randomUUID().slice(0, 8)}`);
  symlinkSync(target, path);
}

function claimsIn(folder: string): readonly (Claim & { readonly file: string })[] {
  const names = existsSync(folder) && lstatSync(folder).isDirectory() ? readdirSync(folder) : [];
  return names.flatMap((name) => {
    try {
      const file = join(folder, name);
      return [{ ...claimSchema.parse(JSON.parse(readFileSync(file, 'utf8'))), file }];
    } catch {
      // Gone meanwhile, or half written by a process that will write it again.
      return [];
    }
  });
}

function isAlive({ pid, startTime }: Pick<Claim, 'pid' | 'startTime'>): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return startTime === undefined || startTimeOf(pid) === startTime;
}
