import type { Forge } from './forge.ts';
import { createGitHubForge } from './github.ts';
import { createGiteaForge, createGitLabForge } from './http-forges.ts';

/** The kinds of services. */
export const FORGE_KINDS = ['github', 'gitlab', 'gitea'] as const;
type ForgeKind = (typeof FORGE_KINDS)[number];

/** Opens the service of a repository: the one the task file names, else the one its host name suggests, else GitHub. */
export function openForge(
  url: string,
  kind: ForgeKind | undefined,
  variables: Readonly<Record<string, string>>,
): Forge {
  switch (kind ?? guessForge(url)) {
    case 'gitlab':
      requireKnownHost(url, ['gitlab.com', variables.GITLAB_HOST], 'GITLAB_HOST');
      return createGitLabForge(variables.GITLAB_TOKEN);
    case 'gitea':
      requireKnownHost(url, ['gitea.com', 'codeberg.org', variables.GITEA_HOST], 'GITEA_HOST');
      return createGiteaForge(variables.GITEA_TOKEN);
    default:
      return createGitHubForge(variables);
  }
}

/** The queue names the repository, so the token of a person must not go to whatever host it names. */
function requireKnownHost(url: string, known: readonly (string | undefined)[], variable: string): void {
  const host = findHost(url);
  if (known.includes(host)) return;
  throw new Error(`Your token is not sent to ${host}. If you trust this host, set ${variable}=${host}.`);
}

const findHost = (url: string): string => /^(?:\w+:\/\/)?(?:[^@/]*@)?([^:/]+)/.exec(url)?.[1] ?? '';

function guessForge(url: string): ForgeKind {
  const host = findHost(url);
  if (host.includes('gitlab')) return 'gitlab';
  return /gitea|forgejo|codeberg/.test(host) ? 'gitea' : 'github';
}
