import { writeFileSync } from 'node:fs';
import {
  appendFile,
  chmod,
  chown,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSingleFileContentStore } from '../../src/checkpoints/content-store.ts';
import { type CheckpointDeps, createCheckpoints } from '../../src/checkpoints/create-checkpoints.ts';
import type { CheckpointEntry } from '../../src/contracts/session.ts';
import { writeAtomically } from '../../src/lib/files/atomic-write.ts';
import { readExtendedAttributes, setExtendedAttribute } from '../../src/lib/files/extended-attributes.ts';
import { createFileLocks } from '../../src/lib/files/file-locks.ts';
import { longTest } from '../support/long-test.ts';
import { runs } from '../support/runs.ts';
import { createTempFolder } from '../support/temp-folder.ts';
import { picture, shell } from './disk-picture.ts';

let base: string;
let root: string;
let warned: string[];
let entries: CheckpointEntry[];

beforeEach(async () => {
  base = createTempFolder();
  root = join(base, 'work');
  await mkdir(root);
  warned = [];
  entries = [];
});

afterEach(async () => {
  await shell(`chmod -R u+rwX "${base}"`, '/', base);
});

function open(more: Partial<CheckpointDeps> = {}) {
  return createCheckpoints({
    folder: join(base, 'session'),
    roots: () => [root],
    skip: [],
    home: base,
    locks: createFileLocks(join(base, 'home')),
    isBackgroundRunning: () => false,
    entries,
    append: async (entry) => void entries.push(JSON.parse(JSON.stringify(entry))),
    warn: (words) => warned.push(words),
    newId: () => crypto.randomUUID(),
    now: Date.now,
    ...more,
  });
}

type Checkpoints = ReturnType<typeof open>;

async function run(checkpoints: Checkpoints, line: string): Promise<void> {
  const { ended } = await checkpoints.beforeCommand();
  await shell(line, root, base);
  await ended('over');
}

async function write(checkpoints: Checkpoints, name: string, text: string): Promise<void> {
  const path = join(root, name);
  await checkpoints.beforeChange(path, Buffer.from(text));
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const newest = async (checkpoints: Checkpoints, back = 1) => (await checkpoints.list()).at(-back)?.id ?? '';

async function project(): Promise<void> {
  await shell(
    `git init -qb main && mkdir -p src/deep docs out && echo one > src/a.ts && echo two > src/deep/b.ts &&
     printf 'no newline' > docs/c.md && printf '\\xff\\x00\\r\\n' > docs/bin && echo run > run.sh && chmod 755 run.sh &&
     ln -s src/a.ts link && printf 'out/\\n*.log\\n' > .gitignore && git add -A && git commit -qm first &&
     git checkout -qb other && echo other > src/a.ts && git rm -q docs/c.md && git commit -qam second && git checkout -q main &&
     echo changed >> src/a.ts && echo staged > staged.ts && git add staged.ts && echo new > untracked.ts && mkdir empty &&
     echo built > out/built.js && echo log > x.log && chmod 600 x.log && mkdir -m 700 src/private`,
    root,
    base,
  );
}

const LINES = [
  'git reset -q --hard',
  'git reset -q --hard HEAD && git clean -qfdx',
  'git clean -qfdx',
  'git checkout -q -f other',
  'git checkout -q -- .',
  'git stash -qu',
  'git rm -rqf src',
  'rm -rf src',
  'rm -rf src docs && mkdir docs && echo x > src',
  'rm -rf .[a-f]* *',
  "sed -i 's/o/0/g' src/a.ts src/deep/b.ts",
  "sed -i 's/e/E/' run.sh untracked.ts staged.ts",
  'mv src moved',
  'mv src/deep/b.ts b.ts',
  'mv docs src/deep/',
  'mv run.sh untracked.ts',
  'rm link && mkdir link && echo in > link/in',
  'rm -rf docs && ln -s / docs',
  'mv src moved && ln -s moved src',
  'mv src/deep . && ln -s ../deep src/deep',
  'cp -a docs copy && rm -rf docs && ln -s copy docs',
  'ln -sf docs/bin link',
  'chmod 000 docs/bin; chmod 755 x.log',
  'chmod 500 src/deep',
  'chmod -R a-w src docs',
  'mkdir -p a/b/c && echo d > a/b/c/d',
  'rmdir empty src/private',
  ': > docs/bin; echo more >> docs/c.md',
  'cp -r src copy && rm -rf src && mv copy src',
  'truncate -s 0 src/a.ts && mv src/a.ts "src/odd name\n.ts"',
];

test('whatever destructive commands do to a project is undone, byte for byte and mode for mode', async () => {
  await project();
  await shell('cp -a . ../kept', root, base);
  const reset = () => shell(`chmod -R u+rwX ${root}; rm -rf ${root}; cp -a ${base}/kept ${root}`, base, base);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...LINES), { minLength: 1, maxLength: 4 }), async (lines) => {
      entries = [];
      await reset();
      const checkpoints = open();
      const before = await picture(root);
      await checkpoints.addPrompt('m1', 'destroy');
      for (const line of lines) await run(checkpoints, line);
      const done = await checkpoints.restore(await newest(checkpoints));
      expect(done?.problems).toEqual([]);
      expect(await picture(root)).toEqual(before);
    }),
    runs(8),
  );
});

test('a folder that a link to the moved folder replaces is restored with its files, and the undo can be undone', async () => {
  await shell('mkdir -p d/e && echo 1 > d/1 && echo 2 > d/e/2', root, base);
  const checkpoints = open();
  const before = await picture(root);
  await checkpoints.addPrompt('m1', 'move');
  await run(checkpoints, 'mv d moved && ln -s moved d');
  const after = await picture(root);
  await checkpoints.restore(await newest(checkpoints));
  expect(await picture(root)).toEqual(before);
  await checkpoints.redo();
  expect(await picture(root)).toEqual(after);
});

test('each prompt is a rewind target for changes of tools and commands', async () => {
  const checkpoints = open();
  await writeFile(join(root, 'a'), 'zero');
  const states = [];
  for (const turn of [1, 2, 3]) {
    states.push(await picture(root));
    await checkpoints.addPrompt(`m${turn}`, `turn ${turn}`);
    await write(checkpoints, 'a', `tool ${turn}`);
    await write(checkpoints, `new-${turn}`, 'new');
    await run(checkpoints, `echo shell >> a; mkdir d${turn}; echo x > d${turn}/x; rm -f new-${turn - 1}`);
  }
  expect((await checkpoints.list()).map(({ prompt, files }) => [prompt, files])).toEqual([
    ['turn 1', 4],
    ['turn 2', 5],
    ['turn 3', 5],
  ]);
  await checkpoints.restore(await newest(checkpoints));
  expect(await picture(root)).toEqual(states[2]);
  await checkpoints.restore(await newest(open({ entries }), 3));
  expect(await picture(root)).toEqual(states[0]);
});

test('step-by-step undo takes the newest change set each time', async () => {
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'one');
  await write(checkpoints, 'a', '1');
  await checkpoints.addPrompt('m2', 'two');
  await write(checkpoints, 'a', '2');
  await checkpoints.addPrompt('m3', 'only talk');
  await checkpoints.restore((await checkpoints.findLastUndoable()) ?? '');
  expect(await readFile(join(root, 'a'), 'utf8')).toBe('1');
  await checkpoints.restore((await checkpoints.findLastUndoable()) ?? '');
  expect(await picture(root)).toEqual({});
  expect(await checkpoints.findLastUndoable()).toBeUndefined();
});

test('a rewind can be undone, step by step and in a later run', async () => {
  const checkpoints = open();
  await writeFile(join(root, 'a'), 'first');
  const states = [await picture(root)];
  for (const turn of [1, 2, 3]) {
    await checkpoints.addPrompt(`m${turn}`, `turn ${turn}`);
    await write(checkpoints, 'a', `turn ${turn}`);
    await run(checkpoints, `mkdir d${turn}; echo x > d${turn}/x`);
    states.push(await picture(root));
  }
  expect(await checkpoints.redo()).toBeUndefined();
  for (const at of [2, 1, 0]) {
    await checkpoints.restore((await checkpoints.findLastUndoable()) ?? '');
    expect(await picture(root)).toEqual(states[at]);
  }
  for (const at of [1, 2, 3]) {
    expect((await open({ entries: [...entries] }).redo())?.problems).toEqual([]);
    expect(await picture(root)).toEqual(states[at]);
  }
  expect(await open({ entries: [...entries] }).redo()).toBeUndefined();
});

const LINE = fc.constantFrom('', 'one', 'two', 'three', 'four');
const TEXT = fc.array(LINE, { minLength: 1, maxLength: 12 });

test('undo removes the lines of the run and keeps those of the user anywhere in a file', async () => {
  await fc.assert(
    fc.asyncProperty(TEXT, TEXT, TEXT, fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), async (...given) => {
      const [head, middle, tail, [before, between, after]] = given;
      entries = [];
      const lines = { person: 0, run: 0 };
      const text = () =>
        [`p${lines.person}`, ...head, 'here', `r${lines.run}`, 'there', ...middle, `q${lines.person}`, ...tail]
          .map((line) => `${line}\n`)
          .join('');
      const byHand = (does: boolean | undefined) => {
        if (does !== true) return;
        lines.person += 1;
        return writeFile(join(root, 'a'), text());
      };
      await writeFile(join(root, 'a'), text());
      const checkpoints = open();
      await checkpoints.addPrompt('m1', 'go');
      await byHand(before);
      for (const then of [between, after]) {
        lines.run += 1;
        await write(checkpoints, 'a', text());
        await byHand(then);
      }
      const now = text();
      const done = await checkpoints.restore(await newest(checkpoints));
      lines.run = 0;
      expect(done?.problems).toEqual([]);
      expect(await readFile(join(root, 'a'), 'utf8')).toBe(text());
      await checkpoints.redo();
      expect(await readFile(join(root, 'a'), 'utf8')).toBe(now);
    }),
    runs(30),
  );
});

test.each([
  ['the same line', 'two\n', async () => writeFile(join(root, 'a'), 'by hand\n')],
  ['bytes that are no text', 'two\n', async () => writeFile(join(root, 'a'), Buffer.from([0, 1, 2]))],
  ['a link in its place', 'two\n', async () => shell('ln -sf elsewhere a', root, base)],
])('the user’s version of a file stays when it is %s, and the old content is named', async (_, text, hand) => {
  await writeFile(join(root, 'a'), 'one\n');
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'go');
  await write(checkpoints, 'a', text);
  await hand();
  const seen = await picture(root);
  const done = await checkpoints.restore(await newest(checkpoints));
  expect(done).toMatchObject({ restored: [], problems: [expect.stringContaining('changed it since')] });
  expect(await picture(root)).toEqual(seen);
  const kept = /content is in (.+)\.$/.exec(done?.problems[0] ?? '')?.[1] ?? '';
  expect(await readFile(kept, 'utf8')).toBe('one\n');
});

test('a new file stays when the user edited it, and so does its folder', async () => {
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'go');
  await write(checkpoints, 'd/e/a', 'one\n');
  await write(checkpoints, 'd/f/b', 'one\n');
  await writeFile(join(root, 'd/e/a'), 'one\nmine\n');
  const done = await checkpoints.restore(await newest(checkpoints));
  expect(done?.removed).toEqual([join(root, 'd/f/b'), join(root, 'd/f')]);
  expect(Object.keys(await picture(root))).toEqual(['d/', 'd/e/', 'd/e/a']);
});

test('an interrupted undo is completed or reverted by the next run', async () => {
  await project();
  const before = await picture(root);
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'go');
  await write(checkpoints, 'src/a.ts', 'edited');
  await run(checkpoints, 'rm -r docs; echo x > new; mkdir made; echo y > made/y');
  const after = await picture(root);
  const written = entries.length;
  await checkpoints.restore(await newest(checkpoints));
  const undoing = entries.slice(0, written + 1);
  await shell('echo z > new; mkdir made', root, base);
  entries = [...undoing];
  expect((await open().redo())?.problems).toEqual([expect.stringContaining('new: another program')]);
  await shell('echo x > new', root, base);
  expect(await picture(root)).toEqual(after);
  entries = [...undoing];
  const again = open();
  await again.restore((await again.findLastUndoable()) ?? '');
  expect(await picture(root)).toEqual(before);
});

test('changes after a rewind can be undone as well', async () => {
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'one');
  await write(checkpoints, 'a', '1');
  await checkpoints.restore(await newest(checkpoints));
  await write(checkpoints, 'a', 'again');
  await write(checkpoints, 'b', 'b');
  await checkpoints.restore(await newest(checkpoints));
  expect(await picture(root)).toEqual({});
});

test('a command interrupted by a crash is undone to the state before it started', async () => {
  await writeFile(join(root, 'a'), 'before');
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'go');
  await checkpoints.beforeCommand();
  await shell('echo after > a; echo b > b', root, base);
  const later = open({ entries: [...entries] });
  expect((await later.list()).map(({ files }) => files)).toEqual([2]);
  await later.restore(await newest(later));
  expect(await picture(root)).toMatchObject({ a: expect.stringContaining(btoa('before')) });
});

test('a background command is tracked across prompts', async () => {
  const checkpoints = open({ isBackgroundRunning: () => true });
  await checkpoints.addPrompt('m1', 'start it');
  const { ended } = await checkpoints.beforeCommand();
  await ended('goes on');
  await shell('echo 1 > a', root, base);
  await checkpoints.addPrompt('m2', 'meanwhile');
  await shell('echo 2 > a; echo 3 > b', root, base);
  await checkpoints.restore(await newest(checkpoints));
  expect(Object.keys(await picture(root))).toEqual(['a']);
  expect(await readFile(join(root, 'a'), 'utf8')).toBe('1\n');
  await checkpoints.restore(await newest(checkpoints, 2));
  expect(await picture(root)).toEqual({});
});

test('an edit while a command runs does not hide the content before the command', async () => {
  await writeFile(join(root, 'a'), 'first');
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'both');
  const { ended } = await checkpoints.beforeCommand();
  await shell('echo second > a', root, base);
  await write(checkpoints, 'a', 'third');
  await ended('over');
  await checkpoints.restore(await newest(checkpoints));
  expect(await readFile(join(root, 'a'), 'utf8')).toBe('first');
});

test('files that are too large or ignored in bulk are named before anything runs, and never touched', async () => {
  const limits = { files: 100, fileBytes: 10, totalBytes: 1_000, ignoredFiles: 3, ignoredBytes: 1_000 };
  await writeFile(join(root, '.gitignore'), 'out\n');
  await writeFile(join(root, 'big'), 'x'.repeat(11));
  await mkdir(join(root, 'out'));
  for (const name of ['1', '2', '3', '4']) await writeFile(join(root, 'out', name), name);
  const checkpoints = open({ limits });
  await checkpoints.addPrompt('m1', 'go');
  const { ended } = await checkpoints.beforeCommand();
  expect(warned.join()).toMatch(/cannot be undone: .*out \(ignored.*big \(it has 11 B\)/);
  await shell('rm out/1 out/2 big; echo five > out/5; echo new > new', root, base);
  await ended('over');
  const [point] = await checkpoints.list();
  expect(point?.notCaptured.join()).toMatch(/out.*big/);
  const done = await checkpoints.restore(point?.id ?? '');
  expect(done).toMatchObject({ removed: [join(root, 'new')], problems: [expect.stringContaining('big')] });
  expect(Object.keys(await picture(join(root, 'out')))).toEqual(['3', '4', '5']);
});

longTest('a pipe in place of an ignore file does not block the snapshot of the workspace', async () => {
  await shell('mkdir d && mkfifo d/.gitignore && echo before > d/a', root, base);
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'go');
  const { ended } = await checkpoints.beforeCommand();
  await shell('echo after > d/a', root, base);
  await ended('over');
  await checkpoints.restore(await newest(checkpoints));
  expect(await readFile(join(root, 'd/a'), 'utf8')).toBe('before\n');
});

test('a home folder is not watched, and that is reported', async () => {
  const checkpoints = open({ home: root });
  const { ended } = await checkpoints.beforeCommand();
  await ended('over');
  expect(warned.join()).toContain('too large to watch');
  expect(entries).toEqual([]);
});

test('nothing is written through a symlink that appeared meanwhile', async () => {
  const outside = join(base, 'outside');
  await mkdir(join(root, 'd'));
  await writeFile(join(root, 'd', 'a'), 'mine');
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'go');
  await write(checkpoints, 'd/a', 'changed');
  await rename(join(root, 'd'), outside);
  await symlink(outside, join(root, 'd'));
  const done = await checkpoints.restore(await newest(checkpoints));
  expect(done).toMatchObject({ restored: [], problems: [expect.stringContaining('changed it since')] });
  expect(await readFile(join(outside, 'a'), 'utf8')).toBe('changed');
});

longTest('nothing is removed through a symlink that appeared meanwhile', async () => {
  const outside = join(base, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'a'), 'new');
  await mkdir(join(root, 'd'));
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'go');
  await write(checkpoints, 'd/a', 'new');
  await rm(join(root, 'd'), { recursive: true });
  await symlink(outside, join(root, 'd'));
  const done = await checkpoints.restore(await newest(checkpoints));
  expect(done).toMatchObject({ removed: [], problems: [expect.stringContaining('is a link now')] });
  expect(await readFile(join(outside, 'a'), 'utf8')).toBe('new');
});

test('a damaged backup is not restored', async () => {
  await writeFile(join(root, 'a'), 'first');
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'go');
  await write(checkpoints, 'a', 'second');
  await shell('chmod -R u+w session; find session -type f -exec sh -c "echo broken > {}" \\;', base, base);
  const done = await checkpoints.restore(await newest(checkpoints));
  expect(done?.problems).toEqual([expect.stringContaining('content is gone')]);
  expect(await readFile(join(root, 'a'), 'utf8')).toBe('second');
});

longTest('pending contents cut off by a full disk do not affect later backups', async () => {
  const folder = join(base, 'session');
  const pack = createSingleFileContentStore(folder);
  const first = pack.put(Buffer.from('first'));
  pack.flush();
  await appendFile(join(folder, 'pack'), 'half of a con');
  await appendFile(join(folder, 'pack-index'), `${'0'.repeat(64)} 5`);
  const second = pack.put(Buffer.from('second'));
  pack.flush();
  for (const one of [pack, createSingleFileContentStore(folder)]) {
    expect([first, second].map((hash) => one.read(hash)?.toString())).toEqual(['first', 'second']);
  }
});

test('changes by others while a command runs stay: edits to a known file, another ouro, own settings', async () => {
  const sharedWritesFolder = join(base, 'shared');
  await mkdir(join(root, '.claude'));
  const checkpoints = open({ sharedWritesFolder });
  const other = open({ sharedWritesFolder, folder: join(base, 'other'), entries: [], append: async () => undefined });
  const settings = '.claude/settings.local.json';
  const during = async (writes: readonly string[] | undefined, byCommand: string, byOthers: () => Promise<unknown>) => {
    await checkpoints.addPrompt('m', 'go');
    const { ended } = await checkpoints.beforeCommand(writes?.map((name) => join(root, name)));
    await shell(byCommand, root, base);
    await byOthers();
    await ended('over');
    await checkpoints.restore(await newest(checkpoints));
    return Object.keys(await picture(root));
  };
  const left = await during(['d/made'], 'mkdir d; echo x > d/made', () => writeFile(join(root, 'mine'), 'by hand'));
  expect(left).toEqual(['.claude/', 'mine']);
  const again = await during(undefined, 'echo x > made', async () => {
    await write(other, 'theirs', 'of another ouro');
    await writeFile(join(root, settings), '{}');
  });
  expect(again).toEqual(['.claude/', settings, 'mine', 'theirs']);
  const gone = await during(undefined, `rm -r .claude`, async () => undefined);
  expect(gone).toEqual(['.claude/', settings, 'mine', 'theirs']);
});

longTest('named pipes and paths that are not UTF-8 are restored', async () => {
  const all = 'find . -printf "%p %y %m %l\\n" -type f -exec cat {} \\; -exec echo \\; | LC_ALL=C sort > ../seen';
  const seen = async () => {
    await shell(all, root, base);
    return (await readFile(join(base, 'seen'))).toString('latin1');
  };
  await shell(
    "mkfifo -m 640 pipe; mkdir -m 710 $'d\\xe9' sound; printf x > $'d\\xe9'/$'odd\\xff'; printf y > $'\\xc3(\\xe2\\x82'; " +
      "ln -s $'to \\xfe' $'d\\xe9/li\\xfenk'; chmod 604 $'\\xc3(\\xe2\\x82'; printf z > $'fine \\u00fc \\ufffd'; touch $'same\\xfe' $'same\\xff'",
    root,
    base,
  );
  const before = await seen();
  const checkpoints = open();
  await checkpoints.addPrompt('m1', 'go');
  await run(
    checkpoints,
    "rm pipe; echo file > pipe; chmod 600 *; chmod u+x d* sound; mv sound $'new\\xff'; echo more > $'new\\xff/a\\xf0'",
  );
  await run(checkpoints, 'rm -rf d* same* *\\(* fine*');
  expect(await seen()).not.toBe(before);
  const done = await checkpoints.restore(await newest(checkpoints));
  expect([done?.problems, warned]).toEqual([[], []]);
  expect(done?.removed).toContain(join(root, 'new\ufffd/a\ufffd'));
  expect(await seen()).toBe(before);
});

/** An access list as the system keeps it: the owner, a user, the group, the mask and others. */
const LIST = Buffer.from(
  '0200000001000600ffffffff020006003930000004000400ffffffff10000600ffffffff20000000ffffffff',
  'hex',
);

longTest('a deleted file is restored with its owner, access control list and other attributes', async () => {
  await mkdir(join(root, 'dir'));
  const inside = join(root, 'dir', 'a');
  await writeFile(inside, 'a');
  await writeFile(join(root, 'bare'), 'b');
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(inside, 12_345, 54_321);
  setExtendedAttribute(inside, 'user.note', Buffer.from('kept'));
  setExtendedAttribute(inside, 'system.posix_acl_access', LIST);
  if (isRoot)
    setExtendedAttribute(inside, 'security.capability', Buffer.from('0100000200040000000000000000000000000000', 'hex'));
  await chmod(inside, 0o4760);
  setExtendedAttribute(join(root, 'dir'), 'system.posix_acl_default', LIST);
  const facts = async (path: string) => {
    const { uid, gid, mode } = await stat(path);
    return { uid, gid, mode, attributes: readExtendedAttributes(path) };
  };
  const all = () => Promise.all([root, join(root, 'dir'), inside, join(root, 'bare')].map(facts));
  const before = await all();
  const checkpoints = open();
  for (const line of [
    'rm -rf dir bare',
    'cp a b && rm a',
    'setfattr -n user.new -v 1 bare; chown 1:1 dir bare',
    'mv dir/a bare',
  ]) {
    await checkpoints.addPrompt('m1', line);
    await run(checkpoints, line);
    const done = await checkpoints.restore(await newest(checkpoints));
    expect(done?.problems).toEqual([]);
    expect(await all()).toEqual(before);
  }
});

longTest('an undo keeps hard links, owner and attributes of a file', async () => {
  await writeFile(join(root, 'a'), 'first');
  await writeFile(join(root, 'b'), 'first');
  await link(join(root, 'a'), join(base, 'a too'));
  setExtendedAttribute(join(root, 'b'), 'user.note', Buffer.from('kept'));
  if (process.getuid?.() === 0) await chown(join(root, 'b'), 12_345, 12_345);
  const facts = async () => {
    const { uid, gid, nlink } = await stat(join(root, 'b'));
    return {
      uid,
      gid,
      nlink,
      linked: (await stat(join(root, 'a'))).ino,
      attributes: readExtendedAttributes(join(root, 'b')),
    };
  };
  const before = await facts();
  const checkpoints = open({ unfinished: join(base, 'unfinished') });
  await checkpoints.addPrompt('m1', 'go');
  for (const name of ['a', 'b']) {
    await checkpoints.beforeChange(join(root, name), Buffer.from('second'));
    await writeAtomically(join(root, name), Buffer.from('second'));
  }
  expect(await facts()).toEqual(before);
  expect(await readFile(join(base, 'a too'), 'utf8')).toBe('second');
  expect((await checkpoints.restore(await newest(checkpoints)))?.problems).toEqual([]);
  expect(await facts()).toEqual(before);
  expect(await readFile(join(base, 'a too'), 'utf8')).toBe('first');
  expect(await readdir(join(base, 'unfinished'))).toEqual([]);
});

test('a second scan reads only what changed', async () => {
  await project();
  await chmod(join(root, 'docs/bin'), 0o640);
  const checkpoints = open();
  await run(checkpoints, 'true');
  const size = async () => (await stat(join(base, 'session', 'pack'))).size;
  const first = await size();
  await run(checkpoints, 'echo more > more.txt');
  expect(await size()).toBe(first + 'more\n'.length);
  await checkpoints.close();
  await expect(size()).rejects.toThrow('ENOENT');
});

/** Many files changed by one command, and the file that is restored last. */
async function changeManyFiles() {
  await shell('for i in $(seq 1000 1999); do echo old > f$i; done', root, base);
  const before = await picture(root);
  const checkpoints = open();
  await checkpoints.addPrompt('m', 'all');
  await run(checkpoints, 'for i in $(seq 1000 1999); do echo new > f$i; done');
  return { before, checkpoints, last: join(root, 'f1000') };
}

/** Opens the checkpoints again; `act` runs with the first turn of the event loop after a restore has begun. */
function openActing(act: () => void) {
  return open({
    append: async (entry) => {
      entries.push(JSON.parse(JSON.stringify(entry)));
      if (entry.step === 'undoing') setImmediate(act);
    },
  });
}

longTest('an undo of many files can be stopped, and the next one restores the rest', async () => {
  const { before } = await changeManyFiles();
  const abort = new AbortController();
  const checkpoints = openActing(() => abort.abort());
  const done = await checkpoints.restore(await newest(checkpoints), undefined, abort.signal);
  const { restored = [], failed = [], problems } = done ?? {};
  expect(failed.length).toBeGreaterThan(0);
  expect(restored.length + failed.length).toBe(1000);
  expect(problems).toEqual([`Stopped: ${failed.length} paths of 1000 not reached.`]);
  expect(await picture(root)).not.toEqual(before);
  const rest = await checkpoints.restore(await newest(checkpoints));
  expect(rest).toMatchObject({ problems: [], failed: [], restored: { length: failed.length } });
  expect(await picture(root)).toEqual(before);
  await checkpoints.redo();
  await checkpoints.redo();
  expect(new Set(Object.values(await picture(root)).map((file) => file.split(' ')[1]))).toEqual(new Set(['bmV3Cg==']));
});

longTest('a file that another program changes during an undo is left alone, and merged by the next one', async () => {
  const { last } = await changeManyFiles();
  const checkpoints = openActing(() => writeFileSync(last, 'old\n'));
  const id = await newest(checkpoints);
  const done = await checkpoints.restore(id);
  expect(done?.failed).toEqual([last]);
  expect(done?.problems).toEqual([`${last}: another program changed it during this undo, so it is left unchanged.`]);
  expect(await checkpoints.restore(id)).toMatchObject({ restored: [], problems: [], failed: [] });
});

longTest('a change that a tool makes during an undo waits for its end', async () => {
  const { last } = await changeManyFiles();
  const changed = Promise.withResolvers<void>();
  const checkpoints = openActing(() => {
    checkpoints.beforeChange(last, Buffer.from('tool')).then(changed.resolve, changed.reject);
  });
  await checkpoints.restore(await newest(checkpoints));
  await changed.promise;
  expect(entries.slice(-3).map(({ step }) => step)).toEqual(['undoing', 'undone', 'change']);
});
