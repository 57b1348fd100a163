import type { ClaudeHome } from '../claude-name.ts';
import type { CloudSettings } from '../clouds/cloud-settings.ts';
import type { DemoSettings } from '../demo/demo-port.ts';
import type { CataloguePage } from '../facts/bundled.ts';
import type { ModelFacts } from '../facts/model-entry.ts';
import type { RetryPolicy } from '../retry.ts';
import type { Patience } from '../wire/attempt.ts';
import type { Providers } from './model-name.ts';

/** Everything the choice depends on, as plain values. */
export type PortConfig = {
  /** As typed: an alias, an id, `demo`, `ollama/qwen3`, `http://host:port/v1#model`. */
  readonly model: string;
  readonly smallModel?: string;
  readonly apiKey?: string | (() => Promise<string>);
  /** Called when the API refused a key that was fetched, so that a fresh one can be. */
  readonly onRefusedKey?: () => void;
  readonly authToken?: string;
  /** What to call the place the key came from (`ANTHROPIC_API_KEY`, `settings` …). */
  readonly keySource?: string;
  readonly baseUrl?: string;
  readonly betas?: readonly string[];
  readonly providers?: Providers;
  /** What is known of clouds that serve Anthropic's models; without it there are none. */
  readonly clouds?: CloudSettings;
  /** The cloud that names without a prefix are on. */
  readonly claudeAt?: ClaudeHome | undefined;
  readonly patience?: () => Partial<Patience>;
  readonly retry?: RetryPolicy;
  readonly demo?: Partial<DemoSettings>;
  readonly fetch?: typeof fetch;
  /** Where the catalogue of a provider stands; absent: as it came with the program. */
  readonly pageOf?: (catalogue: string) => Promise<CataloguePage | undefined>;
  /** What the settings say of models, by the name they are chosen by: it outranks everything else. */
  readonly models?: Readonly<Record<string, ModelFacts>>;
};
