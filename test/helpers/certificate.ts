import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

/** One element of DER (ITU-T X.690): a tag, the length, the content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
const sequence = (...parts: readonly Buffer[]) => der(0x30, ...parts);
const text = (tag: number, value: string) => der(tag, Buffer.from(value, 'latin1'));
/** `ecdsa-with-SHA256` (RFC 5758). */
const ECDSA_SHA256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
const COMMON_NAME = der(0x06, Buffer.from('550403', 'hex'));
const ALTERNATIVE_NAMES = der(0x06, Buffer.from('551d11', 'hex'));

/** A certificate that a server signed for itself (RFC 5280), in PEM. */
export function selfSigned(host: string): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(COMMON_NAME, text(0x0c, host))));
  const names = der(0x04, sequence(text(0x82, host)));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_SHA256,
    name,
    sequence(text(0x17, '200101000000Z'), text(0x17, '490101000000Z')),
    name,
    spki(publicKey),
    der(0xa3, sequence(sequence(ALTERNATIVE_NAMES, names))),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const lines = sequence(body, ECDSA_SHA256, signature).toString('base64').replace(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
