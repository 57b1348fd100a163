import { delimiter, dirname, join, sep } from 'node:path';

/**
 * Returns the user's working directory and environment without the variables and PATH entries that npm adds for a
 * script; they would reach every command that ouro runs.
 */
export function withoutNpm(root, env, cwd) {
  if (env.npm_lifecycle_event !== 'start' || env.npm_package_json !== join(root, 'package.json')) return { cwd, env };
  const kept = Object.entries(env).filter(([name]) => !isFromNpm(name));
  const path = (env.PATH ?? '').split(delimiter).filter((entry) => !isPathFromNpm(entry, root));
  return { cwd: env.INIT_CWD ?? cwd, env: { ...Object.fromEntries(kept), PATH: path.join(delimiter) } };
}

// Only the npm settings of this run; others may be the user's own.
const RUN_SETTINGS = /^npm_config_(prefix|local_prefix|global_prefix|user_agent|npm_version|node_gyp)$/;
const RUN_FACTS = /^npm_(lifecycle_.*|package_.*|execpath|node_execpath|command)$/;

function isFromNpm(name) {
  return name === 'INIT_CWD' || RUN_SETTINGS.test(name) || RUN_FACTS.test(name);
}

function isPathFromNpm(entry, root) {
  if (entry.endsWith(`${sep}node-gyp-bin`)) return true;
  if (!entry.endsWith(join('node_modules', '.bin'))) return false;
  const owner = dirname(dirname(entry));
  return root === owner || root.startsWith(owner.endsWith(sep) ? owner : owner + sep);
}
