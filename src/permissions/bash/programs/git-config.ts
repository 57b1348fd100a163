import { dirname, isAbsolute, join } from 'node:path';
import type { PermissionFs } from '../../paths/fs.ts';
import { resolvePath } from '../../paths/paths.ts';

export type GitPreflight = { readonly ok: true } | { readonly ok: false; readonly why: string };

/** Reads the repository's own configuration by hand: git itself would already run what it names. */
export function gitPreflight(fs: PermissionFs, cwd: string, root: string): GitPreflight {
  const here = findRepository(fs, cwd);
  const expected = findRepository(fs, root);
  if (here === 'bare' || expected === 'bare')
    return { ok: false, why: 'A folder on the way looks like a bare repository.' };
  if (here === undefined) return { ok: true };
  if (here !== expected) return { ok: false, why: `${here} is another repository than the one of the workspace.` };
  const folders = gitFolders(fs, here);
  if (folders === undefined) return { ok: false, why: `${here}/.git points elsewhere.` };
  // The same key in .gitmodules makes git look into submodules again, whatever the environment says.
  if (/^\s*(?:\[.*\]\s*)?ignore\b/im.test(fs.readFile(join(here, '.gitmodules')) ?? ''))
    return {
      ok: false,
      why: `${join(here, '.gitmodules')} makes git look into submodules, whose configuration is theirs.`,
    };
  for (const folder of folders) {
    for (const file of ['config', 'config.worktree']) {
      const key = dangerousKey(fs.readFile(join(folder, file)) ?? '');
      if (key !== undefined)
        return { ok: false, why: `${key} is set in ${join(folder, file)}; it can make git run a program.` };
    }
  }
  return { ok: true };
}

/** The first key in a git configuration that can start a program or pull in more configuration. */
function dangerousKey(text: string): string | undefined {
  let section = '';
  for (const line of text.replace(/\\\r?\n/g, '').split(/\r?\n/)) {
    const header = /^\s*\[\s*([^\s"\]]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\](.*)$/s.exec(line);
    const body = header === null ? line : (header[3] ?? '');
    if (header !== null)
      section = `${(header[1] ?? '').toLowerCase()}${header[2] === undefined ? '' : `.${header[2]}`}`;
    else if (/^\s*\[/.test(line)) return `an unreadable section (${line.trim().slice(0, 40)})`;
    const entry = /^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/s.exec(body);
    if (entry === null) {
      if (body.trim() !== '' && !/^\s*[#;]/.test(body)) return `an unreadable line (${body.trim().slice(0, 40)})`;
      continue;
    }
    const name = (entry[1] ?? '').toLowerCase();
    const value = (entry[2] ?? 'true').trim();
    const [top = ''] = section.split('.');
    const key = `${section}.${name}`;
    if (key === 'core.fsmonitor' && !/^"?(?:true|false|0|1|yes|no|on|off)"?$/i.test(value)) return key;
    if (
      top === 'core' &&
      /^(?:pager|sshcommand|editor|askpass|gitproxy|worktree|alternaterefscommand|attributesfile|excludesfile)$/.test(
        name,
      )
    )
      return key;
    if (
      [
        'pager',
        'filter',
        'alias',
        'include',
        'includeif',
        'difftool',
        'mergetool',
        'merge-driver',
        'interactive',
        'sequence',
        'uploadpack',
        'man',
        'instaweb',
        'browser',
      ].includes(top)
    )
      return key;
    if (top === 'diff' && /^(?:external|command|textconv|tool|orderfile|submodule)$/.test(name)) return key;
    if (top === 'submodule' && name === 'ignore') return key;
    if (top === 'status' && name === 'submodulesummary') return key;
    if (top === 'gpg' && /^(?:program|defaultkeycommand)$/.test(name)) return key;
    if (top === 'credential' && name === 'helper') return key;
    if (top === 'log' && name === 'showsignature') return key;
    if (top === 'extensions' && name === 'partialclone') return key;
    if (top === 'remote' && /^(?:promisor|uploadpack|receivepack|vcs)$/.test(name)) return key;
  }
  return undefined;
}

/** The folder whose `.git` git would use, walking up; `bare` when a folder itself could be the repository. */
function findRepository(fs: PermissionFs, from: string): string | 'bare' | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    if (fs.lstat(join(folder, '.git')) !== undefined) return folder;
    const bare = ['HEAD', 'objects', 'refs'].every((name) => fs.lstat(join(folder, name)) !== undefined);
    if (bare) return 'bare';
    if (folder === dirname(folder)) return undefined;
  }
}

/** The git folder and, for a linked worktree, the common one. Links and odd files are refused. */
function gitFolders(fs: PermissionFs, root: string): readonly string[] | undefined {
  const dotGit = join(root, '.git');
  const stat = fs.lstat(dotGit);
  if (stat?.kind === 'directory') {
    const common = fs.readFile(join(dotGit, 'commondir'));
    return common === undefined ? [dotGit] : undefined;
  }
  if (stat?.kind !== 'file') return undefined;
  const target = /^gitdir: (.+?)\s*$/.exec(fs.readFile(dotGit) ?? '')?.[1];
  if (target === undefined) return undefined;
  const folder = resolvePath(fs, { cwd: root, home: root }, isAbsolute(target) ? target : join(root, target)).real;
  const common = fs.readFile(join(folder, 'commondir'))?.trim();
  return common === undefined ? [folder] : [folder, isAbsolute(common) ? common : join(folder, common)];
}
