import { guards, pins } from './guarded.ts';
import { cacheVariables, credentialsOf, OF_THE_KERNEL } from './places.ts';
import { isMountable, type SandboxPlan } from './plan.ts';

/** The words in front of a command that keep it in the sandbox of bubblewrap. Later mounts lie over earlier ones. */
export function sandboxArguments(program: string, plan: SandboxPlan): readonly string[] {
  const { roots, home, kindOf } = plan;
  const { enter = [], variables = {} } = plan.way ?? {};
  const bind = (path: string) => ['--bind', path, path];
  const hide = (spelled: string): readonly string[] => {
    const path = plan.follow(spelled);
    const kind = kindOf(path);
    if (kind === 'missing' || kind === 'link') return [];
    return kind === 'directory' ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
  };
  return [
    ...withoutSecrets(plan),
    ...(plan.filter === undefined
      ? [...enter, program]
      : [...WITH_FILTER, plan.filter, ...enter, program, '--seccomp', '9']),
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run'],
    // Root writes settings of the kernel by owning them, whatever rights it gave up.
    ...OF_THE_KERNEL.filter((path) => isMountable(kindOf(path))).flatMap((path) => ['--ro-bind', path, path]),
    ...(plan.network === 'open'
      ? ['--ro-bind-try', '/run/systemd/resolve', '/run/systemd/resolve']
      : enter.length > 0
        ? []
        : ['--unshare-net']),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent', '--new-session'],
    ...capabilities(plan.user),
    ...[...roots, ...plan.allowWrite].filter((path) => isMountable(kindOf(path))).flatMap(bind),
    ...pins(plan).flatMap(bind),
    ...guards(plan),
    // Hidden last: nothing that may be written uncovers it.
    ...hide(plan.ouroHome),
    ...(kindOf(plan.caches) === 'directory' ? bind(plan.caches) : []),
    ...(kindOf(plan.sessionFolder) === 'directory' ? ['--ro-bind', plan.sessionFolder, plan.sessionFolder] : []),
    ...credentialsOf(home).flatMap(hide),
    ...plan.denyRead.flatMap(hide),
    ...plan.otherSockets.flatMap((path) => ['--ro-bind-try', '/dev/null', path]),
    ...(plan.unixSockets === 'all' ? [] : plan.unixSockets.flatMap((path) => ['--bind-try', path, path])),
    ...Object.entries({ TMPDIR: '/tmp', ...cacheVariables(plan.caches, plan.set), ...variables }).flatMap(
      ([name, value]) => ['--setenv', name, value],
    ),
    '--',
  ];
}

/**
 * The filter is read from an open file; the number is one that no command is told about otherwise. By bash: another
 * shell drops functions from the environment, and with them those that keep searches from secrets.
 */
const WITH_FILTER = ['/bin/bash', '--noprofile', '--norc', '-c', 'exec 9<"$0"; exec "$@"'];

/** Taken away before the box is made: the memory of its first process would still hold them. */
export function withoutSecrets({ secrets }: SandboxPlan): readonly string[] {
  return secrets.length === 0 ? [] : ['/usr/bin/env', ...secrets.flatMap((name) => ['-u', name])];
}

/** Root would keep the right to mount anew; only what files need stays. */
function capabilities(user: SandboxPlan['user']): readonly string[] {
  const kept = user === 'root' ? ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER'] : [];
  return ['--cap-drop', 'ALL', ...kept.flatMap((name) => ['--cap-add', name])];
}
