/** There is nothing to say who we are with; its message is for people. Known by its name where requests fail. */
export class KeyUnavailable extends Error {
  override readonly name = 'KeyUnavailable';
}
