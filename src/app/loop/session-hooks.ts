import type { Hooks } from '../../hooks/create-hooks.ts';
import { makeHooks } from '../../hooks/make-hooks.ts';
import { createOpeningHook, type OpeningHook } from '../../hooks/opening-hook.ts';
import type { Core } from '../core.ts';
import type { Permissions } from '../permissions/permissions.ts';
import type { Session } from '../session/session.ts';

/** The hooks of settings and of the host, and those that open the session. */
export type SessionHooks = Hooks & { readonly opening: OpeningHook };

type Needs = { readonly session: Session; readonly permissions: Pick<Permissions, 'fitsRule'> };

export function createSessionHooks(core: Core, { session, permissions }: Needs): SessionHooks {
  const { opened, transcript } = session;
  const hooks = makeHooks({
    loaded: core.settings.loaded,
    hostHooks: core.options.host?.hooks ?? [],
    session: { id: opened.id, path: transcript.path ?? '' },
    live: core.live.now,
    cwd: core.cwd,
    variables: core.settings.variables,
    timeoutMs: () => core.settings.limits().hookTimeoutMs,
    fitsRule: permissions.fitsRule,
    tell: (event) => void core.bus.tell(event),
  });
  return { ...hooks, opening: createOpeningHook(hooks, opened.isResumed ? 'resume' : 'startup') };
}
