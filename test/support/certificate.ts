import { generateKeyPairSync, sign } from 'node:crypto';

export interface SelfSigned {
  /** Private key in PEM format. */
  readonly key: string;
  readonly cert: string;
}

const COMMON_NAME = '550403';
const SUBJECT_ALT_NAME = '551d11';
const ECDSA_WITH_SHA256 = '2a8648ce3d040302';

/**
 * Creates a self-signed certificate for 127.0.0.1 (X.509 v3, RFC 5280). Encodes it here in DER, because Node.js can
 * read certificates but not create them.
 */
export function selfSignedCertificate(): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid(ECDSA_WITH_SHA256));
  const name = sequence(der(0x31, sequence(oid(COMMON_NAME), der(0x0c, Buffer.from('receiver')))));
  const loopback = sequence(der(0x87, Buffer.from([127, 0, 0, 1])));
  const toBeSigned = sequence(
    der(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(utcTime('200101000000Z'), utcTime('491231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid(SUBJECT_ALT_NAME), der(0x04, loopback)))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', toBeSigned, privateKey)]);
  const certificate = sequence(toBeSigned, algorithm, der(0x03, signature));
  const base64 = certificate.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return der(0x30, ...contents);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]));
}

function utcTime(text: string): Buffer {
  return der(0x17, Buffer.from(text));
}
