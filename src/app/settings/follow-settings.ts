import type { Settings } from '../../contracts/settings.ts';
import { DEFAULT_MODEL, resolveModel } from '../../model/catalog.ts';
import type { Core } from '../core.ts';

type Needs = {
  /** The next request differs on purpose. */
  readonly expect: (why: string) => void;
};

/**
 * Takes over what was edited in the settings since it was last asked: model, effort and output style. What a flag or a
 * command chose stays: it is no longer what the settings said before.
 */
export function createSettingsFollower({ settings, live, options, environment }: Core, { expect }: Needs): () => void {
  let before = settings.now();
  return () => {
    const [old, now] = [before, settings.now()];
    before = now;
    const { model, effort, outputStyle } = live.now();
    const [oldModel, newModel] = [modelOf(old), modelOf(now)];
    if (oldModel !== newModel && model === oldModel && (options.model ?? environment.model) === undefined) {
      expect(`The settings changed the model to ${newModel}.`);
      live.change({ model: newModel });
    }
    const [oldEffort, newEffort] = [old.effort ?? 'auto', now.effort ?? 'auto'];
    if (oldEffort !== newEffort && effort === oldEffort && options.effort === undefined) {
      expect(`The settings changed the effort to ${newEffort}.`);
      live.change({ effort: newEffort });
    }
    const [oldStyle, newStyle] = [old.outputStyle ?? 'default', now.outputStyle ?? 'default'];
    if (oldStyle !== newStyle && outputStyle === oldStyle) live.change({ outputStyle: newStyle });
  };
}

function modelOf({ model }: Settings): string {
  return resolveModel(model ?? DEFAULT_MODEL);
}
