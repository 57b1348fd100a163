import manifest from '../../package.json' with { type: 'json' };
import { getBuildTarget } from './environment.ts';

/** The package and the releases that this build belongs to. */
export type ReleaseSource = {
  readonly packageName: string;
  /** Address of the releases; `undefined` for a build that belongs to no release. */
  readonly releasesUrl: string | undefined;
  /** Public key that signs the releases; `undefined` for a build that verifies no signatures. */
  readonly releaseKey: string | undefined;
  /** The system that this executable was built for, as in the names of archives. */
  readonly target: string;
};

/** Returns where this build is published: the release workflow adds its repository to the manifest. */
export function getReleaseSource(): ReleaseSource {
  const {
    name,
    repository,
    releaseKey,
  }: {
    readonly name: string;
    readonly repository?: { readonly url: string };
    readonly releaseKey?: string;
  } = manifest;
  const address = repository?.url.replace(/^git\+/, '').replace(/\.git$/, '');
  return {
    packageName: name,
    releasesUrl: address === undefined ? undefined : `${address}/releases`,
    releaseKey: releaseKey === '' ? undefined : releaseKey,
    target: getBuildTarget(),
  };
}
