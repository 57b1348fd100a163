import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { decide } from '../../src/permissions/decide.ts';
import { diskFs } from '../../src/permissions/permission-fs.ts';
import { getToolFacts } from '../../src/tools/tool-traits.ts';
import { makeFixture, policyFor, type Setup } from './fixture.ts';

const fixture = makeFixture();
const { ws } = fixture;
const FILES = [
  ...[
    'g/-i.bak',
    'g/a b.js',
    'g/x\ny.js',
    'g/>z.js',
    'g/ok.js',
    'p/touch pwn|',
    'p/|touch x.js',
    'p/ok.js',
    'd/-rf',
    'd/a.js',
  ],
  ...['made/a.js', 'mixed/a.js', 'mixed/user.md', 'lnk/x', 'ml/x'],
];
for (const name of FILES) {
  mkdirSync(dirname(join(ws, name)), { recursive: true });
  writeFileSync(join(ws, name), 'x');
}
const LINKS = {
  'lnk/a.js': '../../outside/data',
  'lnk/e.js': '../.env',
  'lnk/dir': '../../outside',
  'ml/a.js': '../src/a.ts',
};
for (const [name, target] of Object.entries({ ...LINKS, 'ml/out': '../../outside', tomade: 'made' }))
  symlinkSync(target, join(ws, name));
/** The files and folders that the session created. */
const created = new Set(['made', 'made/a.js', 'mixed', 'mixed/a.js', 'ml', 'ml/x'].map((name) => join(ws, name)));

const listAllowed = (lines: string, setup: Setup) =>
  lines.split('\n').filter((command) => {
    const policy = { ...policyFor(fixture, setup), isCreatedHere: (path: string) => created.has(path) };
    return command !== '' && decide(getToolFacts('Bash', { command }, ws), policy, diskFs).verdict === 'allow';
  });

test('harmless lines of these kinds run', () => {
  expect(listAllowed('date && npm test', { allow: ['Bash(npm test:*)'] })).toHaveLength(1);
  const edits = 'sed -i s/a/b/ src/*.ts\nperl -pi -e s/a/b/ src/*.ts\nrm -r made\nsed -i s/a/b/ $(grep -rl x src)';
  expect(listAllowed(edits, { mode: 'acceptEdits' })).toEqual(edits.split('\n'));
});

test('no effect is smuggled in beside an allowed part', () => {
  const lines = `
sort -o x README.md && npm test
sort -ox README.md && npm test
sort --output=x README.md; npm test
uniq README.md out && npm test
sed -i s/a/b/ README.md && npm test
sed -n 'w x' README.md; npm test
sed '1e touch x' README.md | npm test
sed --expression='s/a/b/w y' README.md; npm test
awk '{print > "x"}' README.md && npm test
awk 'BEGIN{system("x")}' && npm test
awk '{"x"|getline}' README.md; npm test
awk '{print | "sh"}' README.md; npm test
awk -i inplace '{print}' README.md; npm test
awk -v x=1 -f y README.md; npm test
awk '@load "x"; {print}' a; npm test
awk 'BEGIN{f="sys" "tem"; @f("x")}'; npm test
git grep -O x; npm test
git grep --open-files-in-pager=x y; npm test
git -c core.pager=x log; npm test
git blame --contents=.env README.md; npm test
git diff --ext-diff; npm test
git log --output=x; npm test
git -C vendor/evil status; npm test
git --exec-path=. log; npm test
jq -f x.jq README.md; npm test
jq 'import "x" as y; .' package.json; npm test
jq env package.json; npm test
jq --rawfile a .env . package.json; npm test
date -s 1; npm test
date --file=.env; npm test
du --files0-from=.env; npm test
stat -f .env > x; npm test
file -m x README.md; npm test
file -f .env; npm test
xxd -r README.md x; npm test
xxd README.md out; npm test
diff .env README.md; npm test
cut -c1 ../outside/data; npm test
tr a b < .env; npm test
tree -o x; npm test
fd -x rm; npm test
fd x -X rm; npm test
unzip x.zip; npm test
unzip -p x.zip; npm test
bash x.sh; npm test
bash -c date; npm test
node a.js; npm test
node -p 'process.exit()' ; npm test
node -r ./x --check a.js; npm test
node --check --import=./x a.js; npm test
gofmt -w .; npm test
column README.md > x; npm test
readlink -f ~/.ssh/id_rsa | xargs cat; npm test
hexdump .env; npm test
zcat ../outside/data.gz; npm test
nl link-out; npm test
which -a x > y; npm test
node --version > x; npm test
eza --git-repos ../outside; npm test
hostname evil; npm test
sleep 1 > x; npm test
seq 3 > x; npm test
cal > x; npm test
`;
  expect(listAllowed(lines, { allow: ['Bash(npm test:*)', 'Bash(curl http://localhost:3000/*)'] })).toEqual([]);
});

test('no effect is smuggled in by assignments', () => {
  const lines = `
PYTHONPATH=evil pytest
PYTHONPATH=src:evil pytest
PYTHONPATH='src evil' pytest
PYTHONPATH=src PYTHONPATH=evil pytest
PYTHONPATH=evil PYTHONPATH=src pytest
PYTHONPATH+=src pytest
PYTHONPATH[0]=src pytest
PYTHONPATH=(src) pytest
PYTHONPATH=src PATH=. pytest
PYTHONPATH=src LD_PRELOAD=./x pytest
LD_PRELOAD=./x PYTHONPATH=src pytest
PYTHONPATH=src PYTEST_ADDOPTS=-px pytest
PYTHONPATH=src BASH_ENV=x pytest
PYTHONPATH=$PWD/src pytest
PYTHONPATH=$(echo src) pytest
PYTHONPATH=~/src pytest
PYTHONPATH=src ./pytest
PYTHONPATH=src src/pytest
PYTHONPATH=src env pytest
PYTHONPATH=src sh -c pytest
PYTHONPATH=src python -m pytest
env PYTHONPATH=src pytest
export PYTHONPATH=src; pytest -q
PYTHONPATH=src; pytest -q
PYTHONPATH=src && pytest -q
PYTHONPATH=src pytest > src/a.ts
PYTHONPATH=src pytest | sh
PYTHONPATH=src pytest & rm x
PYTHONPATH=src pytest; rm x
PYTHONPATH=src pytest --rootdir=../outside
PYTHONPATH=src pytest -p evil --basetemp=/x
PYTHONPATH=src pytest -c ../outside/x --config-file=y
PYTHONPATH=src pytest $(rm x)
CI=2 npm test
CI=1 CI=2 npm test
CI=1 NODE_OPTIONS=-rx npm test
CI="1 " npm test
CI=1 npm testx
PYTHONPATH=src ls
LD_PRELOAD=x ls
PATH=. ls
IFS=x ls
`;
  expect(
    listAllowed(lines, {
      allow: ['Bash(PYTHONPATH=src pytest:*)', 'Bash(CI=1 npm test:*)', 'Bash(pytest)', 'Bash(ls:*)'],
    }),
  ).toEqual([]);
});

test('no effect is smuggled in by patterns', () => {
  const lines = `
sed -i s/a/b/ lnk/*.js
sed -i s/a/b/ lnk/*/*
sed -i s/a/b/ lnk/e*
cd g && sed -i s/a/b/ *
sed -i s/a/b/ g/../../outside/*
sed -i s/a/b/ ../*/data
sed -i s/a/b/ ~/*/data
sed -i s/a/b/ /etc/host*
sed -i s/a/b/ .g*/config
sed -i s/a/b/ .e*
sed -i s/a/b/ .[e]nv
cd d && touch *
cd d && cp * ../src
cd d && rm *
cp src/*.ts ../outside
cp src/*.ts lnk/dir/
cp lnk/*.js src/
cp .env* src/
mv lnk/*.js src/
touch lnk/*.js
touch lnk/*
touch .git/hooks/*
cp src/*.ts .git/hooks/
mkdir lnk/dir/*
sed -i* s/a/b/ src/a.ts
sed -i s/a/b/w* src/a.ts
sed s/a/b/ -i*/x src/a.ts
sed -i -e s/a/b/ -f* src/a.ts
sed -i $(ls src)
sed -i s/a/b/ $(ls src)
sed -i s/a/b/ $(grep -rl x ..)
sed -i s/a/b/ $(grep -rlR x lnk)
sed -i s/a/b/ $(grep -rl x .; echo ../outside/data)
sed -i s/a/b/ $(grep -l x lnk/*)
sed -i s/a/b/ $(cat list)
sed -i s/a/b/ $(rg -l x -e y --pre=./z src)
sed -i s/a/b/ $(find src -exec touch {} +)
sed -i s/a/b/ $(grep -rl x src > y)
ln -s ../outside/data src/l.ts; sed -i s/a/b/ src/*.ts
mv ml/a.js src/l.ts && sed -i s/a/b/ src/*
for f in lnk/*; do sed -i s/a/b/ "$f"; done
for f in *; do sed -i s/a/b/ $f; done
for f in g/*; do touch $f; done
for f in src/*; do cp "$f" ../outside/; done
shopt -s dotglob; sed -i s/a/b/ *
sed -i s/a/b/ src/*.ts > .git/config
git ls-files | xargs sed -i s/a/b/
sed -i s/a/b/ vendor/*/.git/config
sed -i s/a/b/ {lnk,src}/*.js
`;
  expect(listAllowed(lines, { mode: 'acceptEdits' })).toEqual([]);
});

test('no effect is smuggled in by code of perl', () => {
  const lines = `
perl -pi -e 's/x/y/' p/*
perl -pi -e 's/x/y/' g/*
perl -pi -e 's/x/y/' lnk/*.js
perl -pi -e 's/x/y/' 'p/touch pwn|'
perl -pi -e 's/x/y/' '|touch y'
perl -pi -e 's/x/y/' '>src/a.ts'
perl -pi -e 's/x/y/' 'src/a.ts '
perl -pi -e 's/x/system(1)/e' src/a.ts
perl -pi -e 's/x/y/ee' src/a.ts
perl -pi -e 's/@{[system 1]}/y/' src/a.ts
perl -pi -e 's/(?{system 1})x/y/' src/a.ts
perl -pi -e 's/(??{system 1})x/y/' src/a.ts
perl -pi -e 's/x(?#)(?{1})/y/' src/a.ts
perl -pi -e 'system(1)' src/a.ts
perl -pi -e 's/x/y/;system(1)' src/a.ts
perl -pi -e 's/x/y/,system(1)' src/a.ts
perl -pi -e 's/x/y/ if system(1)' src/a.ts
perl -pi -e 's/x/y/ for system(1)' src/a.ts
perl -pi -e 'BEGIN{system 1}s/x/y/' src/a.ts
perl -pi -e 's{x}{system 1}e' src/a.ts
perl -pi -e 'open(F,">x")' src/a.ts
perl -pi -e 'unlink "x"' src/a.ts
perl -pi -e 'tr/a/b/;exec 1' src/a.ts
perl -pi -e 'y/a/b/e' src/a.ts
perl -pi -MFoo -e 's/x/y/' src/a.ts
perl -pi -I. -e 's/x/y/' src/a.ts
perl -pie 's/x/y/' src/a.ts
perl -pi.bak -e 's/x/y/' src/a.ts
perl -pi'/../outside/*' -e 's/x/y/' src/a.ts
perl -pi -e 's/x/y/' ../outside/data
perl -pi -e 's/x/y/' .env
perl -pi -e 's/x/y/' .git/config
perl -pi -e "$X" src/a.ts
perl -pi -e 's/x/y/' -e 'system 1' src/a.ts
perl -pi -e 's/x/y/' -- -e src/a.ts src/../../outside/data
perl -d -pi -e 's/x/y/' src/a.ts
PERL5OPT=-Mx perl -pi -e 's/x/y/' src/a.ts
perl -pi script.pl src/a.ts
perl -ne 's/x/y/' .env
`;
  expect(listAllowed(lines, { mode: 'acceptEdits' })).toEqual([]);
});

test('no effect is smuggled in by deleting', () => {
  const lines = `
rm -r mixed
rm mixed/user.md
rm mixed/*
rm -r made mixed
rm made/../README.md
rm -r tomade
rm tomade/../README.md
rm -r tomade/
rm -r ml
rm ml/*
rm ml/a.js
rm -r ml/out
rm -r ml/out/
rm lnk/a.js
rm -rf lnk
rm -rf .
rm -rf ./
rm -rf ..
rm -rf *
rm -rf ~
rm -rf /
rm -rf made /
rm -rf made ~/outside
rm README.md
rm -rf src
rm -rf .git
rm .git/config
rm -r made; rm -r src
cd made && rm -r ../src
mv README.md made/ && rm -r made
mv src/a.ts made/a.js; rm made/a.js
cp -r src made/x && rm -r made/x src
ln -s ../src made/s && rm -r made/s/
rm $(ls)
rm $(grep -rl x src)
rm made/$X
rm "$(cat x)"
find made -delete
find made -exec rm {} +
ls | xargs rm
unlink README.md
shred made/a.js
rmdir src
sudo rm -r made
env rm -r made
rm --one-file-system -r made
rm -r --no-preserve-root made
rm -- -r src
rm made/a.js ../outside/data
rm 'made/a.js' > .git/config
rm -r made | sh
for f in src/*; do rm "$f"; done
while read f; do rm "$f"; done < x
rm {made,src}/*
rm -r mad*/../src
`;
  expect(listAllowed(lines, { mode: 'acceptEdits' })).toEqual([]);
});

test('no effect is smuggled in by substitutions', () => {
  const lines = `
npx $(grep -rl x src)
npx eslint $(cat x)
npx eslint $(ls)
npx eslint $(rm x)
npx eslint $(grep -rl x ../outside)
npx eslint $(grep -rl x lnk; rm y)
npx eslint $(grep -rl x src | xargs rm)
npx eslint $(grep -rl x src && touch y > .git/config)
npx eslint "$(cat .env)"
npx eslint $(grep -l x .env)
npx eslint $(grep -l x .e*)
npx eslint $(grep -rl x . )
npx eslint --config $(grep -rl x src)
npx eslint --rulesdir=$(grep -rl x src)
timeout 5 $(grep -rl x src)
nice $(grep -l x src/a.ts)
$(grep -rl x src)
env $(grep -rl x src)
xargs $(grep -rl x src)
sh $(grep -rl x src)
node $(grep -rl x src)
python3 $(grep -rl x src)
awk $(grep -rl x src)
sed $(grep -rl x src)
sed -i $(grep -rl x src)
sed -i -e $(grep -rl x src) README.md
tail -f $(grep -rl x src)
uniq $(grep -l x src/a.ts README.md)
xxd $(grep -l x src/a.ts README.md)
sort -o $(grep -rl x src)
tee $(grep -rl x src) < .env
cp $(grep -rl x src) ../outside
mv $(grep -rl x src) ../outside/
touch x; wc -l $(grep -rl x lnk)
cat $(grep -l x lnk/a.js)
cat $(grep -l x lnk/e.js)
cat $(grep -rl x lnk/dir)
cat $(rg -l x lnk/dir/)
ln -s .env src/zz; cat $(grep -rl x src)
mv .env src/zz; cat $(grep -rl x src)
git diff $(grep -rl x src) --output=y
perl $(grep -rl x src)
perl -pi -e $(grep -rl x src) README.md
`;
  expect(listAllowed(lines, { mode: 'acceptEdits', allow: ['Bash(npx eslint:*)', 'Bash(npm test:*)'] })).toEqual([]);
});
