import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** One request as it came over the wire. */
export type SignedRequest = {
  readonly method: string;
  readonly path: string;
  readonly raw: string;
  readonly headers: IncomingHttpHeaders;
};

/** The pair of keys that a signature is made with. */
export type SigningKey = { readonly id: string; readonly secret: string; readonly token?: string };

const FORM =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;

/** Verifies the signature of a request; returns the error of AWS if it is wrong. */
export function refusedSignature(request: SignedRequest, key: SigningKey): string | undefined {
  const { headers, method, path, raw } = request;
  const [, id, day = '', region = '', service = '', names = '', given] = FORM.exec(headers.authorization ?? '') ?? [];
  if (given === undefined) return 'Missing Authentication Token';
  if (id !== key.id || headers['x-amz-security-token'] !== key.token)
    return 'The security token included in the request is invalid.';
  const time = String(headers['x-amz-date']);
  if (!time.startsWith(day)) return 'Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date.';
  for (const needed of ['host', 'x-amz-date']) {
    if (!names.split(';').includes(needed)) return `'${needed}' must be a 'SignedHeader' in the AWS Authorization.`;
  }
  const [pathname = '', query = ''] = path.split('?');
  const canonical = [
    method,
    // Every service but S3 has the path encoded once more.
    pathname.split('/').map(encoded).join('/'),
    query,
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`),
    '',
    names,
    sha256(raw),
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const signing = [region, service, 'aws4_request'].reduce(hmac, hmac(`AWS4${key.secret}`, day));
  return hmac(signing, text).toString('hex') === given
    ? undefined
    : 'The request signature we calculated does not match the signature you provided.';
}

const encoded = (part: string): string =>
  encodeURIComponent(part).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
