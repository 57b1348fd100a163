/**
 * Signatures of releases: SSHSIG with Ed25519, which ssh-keygen, openssl and ouro itself can verify.
 *
 * release-signature.mjs <file>: creates a key, writes its private half to the file and prints its public half.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';

/** The purpose of a signature: one that the key made for something else does not count. */
const NAMESPACE = 'ouro-release';

/** Returns the public half of a private key (PEM): a line as in `id_ed25519.pub`. */
export function getPublicKey(privateKey) {
  return `ssh-ed25519 ${encodePublicKey(privateKey).toString('base64')}`;
}

/** Returns the public half as the one line of a PEM file. */
export function getPublicKeyPem(privateKey) {
  return createPublicKey(readKey(privateKey)).export({ type: 'spki', format: 'der' }).toString('base64');
}

/** Signs bytes with a private key (PEM). */
export function signRelease(privateKey, bytes) {
  const hashed = [NAMESPACE, '', 'sha512'].map(encodeString);
  const digest = createHash('sha512').update(bytes).digest();
  const signed = sign(
    null,
    Buffer.concat([Buffer.from('SSHSIG'), ...hashed, encodeString(digest)]),
    readKey(privateKey),
  );
  const signature = Buffer.concat([encodeString('ssh-ed25519'), encodeString(signed)]);
  const version = Buffer.from([0, 0, 0, 1]);
  const blob = [
    Buffer.from('SSHSIG'),
    version,
    encodeString(encodePublicKey(privateKey)),
    ...hashed,
    encodeString(signature),
  ];
  const lines = Buffer.concat(blob)
    .toString('base64')
    .match(/.{1,70}/g);
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n');
}

function readKey(privateKey) {
  const key = createPrivateKey(privateKey);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('The key for releases must be an Ed25519 key.');
  return key;
}

function encodePublicKey(privateKey) {
  const der = createPublicKey(readKey(privateKey)).export({ type: 'spki', format: 'der' });
  return Buffer.concat([encodeString('ssh-ed25519'), encodeString(der.subarray(-32))]);
}

function encodeString(content) {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

if (process.argv[1] === import.meta.filename) {
  const [, , file] = process.argv;
  if (file === undefined) throw new Error('Name the file for the private key.');
  const { privateKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  writeFileSync(file, privateKey, { mode: 0o600, flag: 'wx' });
  process.stdout.write(`${getPublicKey(privateKey)}\n`);
}
