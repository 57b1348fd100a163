import type { ModelFailure } from '../../contracts/model.ts';

/** A proxy or a certificate that does not do; its message is for people. */
export class NetworkProblem extends Error {
  override readonly name = 'NetworkProblem';
  readonly kind: ModelFailure['kind'];

  constructor(kind: ModelFailure['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
