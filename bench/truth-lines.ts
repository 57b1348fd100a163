/** Lines that agents run in any project. */
const ANY = [
  'pwd',
  'ls -l | head -5',
  'git status --short',
  'git log --oneline -5',
  'git diff --stat HEAD~1',
  'git show --stat HEAD | head -20',
  'git branch -a',
  'git rev-parse HEAD',
  'git ls-files | wc -l',
  'git grep -n main | head -3',
  'git tag | tail -3',
  'git remote -v',
  "find . -name '*.md' -not -path './node_modules/*' | sort | head -5",
  'grep -rn TODO . --include=*.c --include=*.js --include=*.py --include=*.rs | sort | head -5',
  'rg -n version --sort path | head -5',
  'wc -l README*',
  'head -5 README*',
  'sed -n 1,5p README*',
  'cat .gitignore',
  'cat .env; echo over',
  'file README*',
  'nproc; whoami; date +%Y; uname -s',
  'echo $HOME | wc -w; echo $SHELL; umask',
  'mktemp -d | wc -l',
  'echo kept > /tmp/note && cat /tmp/note',
  'cat /tmp/note; rm -f /tmp/note',
  'python3 --version; node --version; gcc --version | head -1',
  'command -v git node python3 gcc make | wc -l',
  'sleep 0.1 && echo slept',
  'for f in README*; do wc -c $f; done',
  'diff README* /dev/null | tail -2',
  'curl -sS http://localhost:1/; echo code $?',
  `node -e "const s=require('http').createServer((q,r)=>r.end('hi')).listen(0,()=>fetch('http://localhost:'+s.address().port).then(r=>r.text()).then(t=>{console.log(t);s.close()}))"`,
  `python3 -c "import socket as s; a=s.create_server(('127.0.0.1',0)); b=s.create_connection(a.getsockname()); print('connected')"`,
  `python3 -c "import multiprocessing as m; print(m.Pool(2).map(abs, [-1]))"`,
  'touch made && ls made && rm made',
  'rm missing || true',
  'echo changed >> README*; git diff --stat | tail -1',
  'git stash && git stash list | wc -l && git stash pop | tail -1',
  'git add -A && git -c user.name=a -c user.email=a@b.c commit -qm change && git log --oneline | wc -l',
  'git checkout -q -b topic && git branch | wc -l',
  'git reset -q --hard HEAD~1 && git status --short | wc -l',
  "printf 'a\\nb\\n' > list && sed -i s/a/c/ list && cat list && rm list",
  'tar czf all.tgz README* && tar tzf all.tgz && rm all.tgz',
];

const JAVASCRIPT = [
  'node -e "console.log(require(\'./package.json\').name)"',
  'jq -r .version package.json',
  'npm pkg get name',
  'npm ls --depth 0 2>&1 | tail -3',
  'npm test --silent 2>&1 | tail -4',
  'npm run 2>&1 | head -5',
  'npx --no-install eslint --version',
  'npx --no-install mocha --version',
];

const PYTHON = [
  'PYTHONPATH=src python3 -m pytest -q 2>&1 | tail -3',
  'python3 -m py_compile $(git ls-files "*.py" | head -1) && echo compiled',
  'python3 -m compileall -q src > /dev/null && echo compiled',
  'python3 -m unittest discover -s nothing 2>&1 | tail -1',
  'python3 -c "import sys; print(sys.prefix == sys.base_prefix)"',
  'pip list 2>/dev/null | wc -l',
];

const C = [
  'make -n 2>&1 | tail -2',
  'make 2>&1 | tail -2',
  'gcc -fsyntax-only $(git ls-files "*.c" | head -1) 2>&1 | tail -1',
  'ls -t | head -1',
  'make clean 2>&1 | tail -1',
];

const RUST = ['cargo --version', 'cargo metadata --offline --no-deps --format-version 1 | wc -c', 'rustc --version'];

/** Returns the lines for a project with these files in its folder. */
export function linesFor(files: readonly string[], manifest: string): readonly string[] {
  const has = (name: string) => files.includes(name);
  return [
    ...ANY,
    ...(manifest === '' ? [] : JAVASCRIPT),
    ...(has('pyproject.toml') || has('setup.py') ? PYTHON : []),
    ...(has('Makefile') ? C : []),
    ...(has('Cargo.toml') ? RUST : []),
  ];
}
