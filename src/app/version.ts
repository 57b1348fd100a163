import manifest from '../../package.json' with { type: 'json' };

/** The version of the package this file belongs to. */
export const VERSION: string = manifest.version;
