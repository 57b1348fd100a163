import { dirname, join } from 'node:path';
import type { Environment } from '../../contracts/environment.ts';
import type { ApprovedProjectPart } from '../../contracts/frontend/first-run.ts';
import type { SettingsLayer } from '../../contracts/settings.ts';
import type { Extensions } from '../../extensions/load-extensions.ts';
import { createProgramApprovals, type ProgramApprovals } from '../../settings/program-approvals.ts';
import { fingerprintSettingsGrants } from '../../settings/settings-needing-approval.ts';
import { openTrustStore, type TrustStore } from '../../settings/trust-store.ts';
import { fingerprintExtensionGrants, removeExtensionGrants } from './extension-grants.ts';
import { isExternalFileAccepted } from './external-instructions.ts';
import { areParentSettingsApproved, readFolderFiles } from './folder-files.ts';

/** The trust in one folder during one run. */
export type FolderTrust = ContentApprovals & {
  readonly isTrusted: boolean;
  readonly programs: ProgramApprovals;
};

/** The approved part of a folder's content. */
type ContentApprovals = {
  /** Returns whether the user accepted this external file, which the folder's instructions include. */
  acceptsOutside(realPath: string): boolean;
  /** Returns whether settings are approved as they are. Settings first seen below a trusted folder become approved. */
  isApproved(layer: SettingsLayer): Promise<boolean>;
  /** Removes grants and hooks of commands, skills and agents that are not approved as they are. */
  filterApproved(extensions: Extensions): Promise<Extensions>;
  /** Approves the current files again after ouro itself changed an approved file. */
  renewApproval(): Promise<void>;
};

/** Loads the trust in a folder. `this-run` trusts it as it is, without storing anything. */
export async function loadFolderTrust(
  realDir: string,
  environment: Environment,
  override: 'this-run' | undefined,
): Promise<FolderTrust> {
  const store = await openTrustStore(environment.ouroHome, environment.home);
  const isTrusted = override === 'this-run' || store.isTrusted(realDir);
  const { instructions, programs: mark } = isTrusted ? await store.readMarks(realDir) : {};
  const startedAtMs = Date.now();
  if (isTrusted && override === undefined && mark === undefined) {
    const { marks } = await readFolderFiles(realDir, environment, 'top');
    // A mark that could not be stored is taken again at the next start.
    await store.approve(realDir, { programs: marks.programs ?? 'nothing' }).catch(() => undefined);
  }
  const approvals =
    override === 'this-run' ? approveAll() : createContentApprovals(realDir, environment, store, instructions);
  const storeProblems = store.problem === undefined ? [] : [{ path: 'Trusted folders:', text: store.problem }];
  return {
    isTrusted,
    programs: createProgramApprovals({ store, realDir, override, mark, startedAtMs }),
    ...approvals,
    filterApproved: ({ problems, ...extensions }) =>
      approvals.filterApproved({ ...extensions, problems: [...problems, ...storeProblems] }),
  };
}

function approveAll(): ContentApprovals {
  return {
    acceptsOutside: () => true,
    isApproved: async () => true,
    filterApproved: async (extensions) => extensions,
    renewApproval: async () => undefined,
  };
}

/** Approves what is the same as when the folder was trusted. */
function createContentApprovals(
  realDir: string,
  environment: Environment,
  store: TrustStore,
  acceptedFiles: string | undefined,
): ContentApprovals {
  const refusedSources = new Set<string>();

  async function isUnchanged(source: ApprovedProjectPart, mark: string): Promise<boolean> {
    if (mark === 'nothing') return true;
    const known = (await store.readMarks(realDir))[source];
    if (known === mark) return true;
    if (known === undefined) {
      // Not awaited: a fingerprint that could not be stored is seen again at the next start.
      void store.approve(realDir, { [source]: mark }).catch(() => undefined);
      return true;
    }
    refusedSources.add(source);
    return false;
  }

  return {
    acceptsOutside: (realPath) => isExternalFileAccepted(acceptedFiles, realPath),
    async isApproved({ source, settings, file }) {
      if (source !== 'project' && source !== 'local') return true;
      const mark = fingerprintSettingsGrants(settings);
      if (dirname(dirname(file)) === realDir) return isUnchanged(source, mark);
      if (mark === 'nothing') return true;
      const files = await readFolderFiles(realDir, environment, 'top');
      return areParentSettingsApproved(files, await store.readMarks(realDir), store);
    },
    async filterApproved(extensions) {
      const { commands, skills, agents, problems } = extensions;
      const mark = fingerprintExtensionGrants([...commands, ...skills], agents);
      if (await isUnchanged('commands', mark)) return extensions;
      const path = join(realDir, '.claude');
      const text =
        'has changed since this folder was trusted, so its commands, skills and sub-agents lose their allowed tools and hooks. Review the changes with "ouro trust --show", approve them with "ouro trust".';
      return { ...removeExtensionGrants(extensions), problems: [...problems, { path, text }] };
    },
    async renewApproval() {
      if (!store.isTrusted(realDir)) return;
      const { marks } = await readFolderFiles(realDir, environment, 'top');
      // External files, settings of parent folders and programs are approved only by a user who was shown them.
      const shownSources = ['instructions', 'above', 'programs'];
      const kept = Object.entries(marks).filter(
        ([source]) => !shownSources.includes(source) && !refusedSources.has(source),
      );
      await store.approve(realDir, Object.fromEntries(kept));
    },
  };
}
