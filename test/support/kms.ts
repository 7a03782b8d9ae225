/** A key management service on 127.0.0.1 with one secp256k1 key, speaking the JSON protocol of AWS KMS and the REST of Cloud KMS. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { privateKeyToAccount, sign } from 'viem/accounts';
import type { Hex } from '../../modules/kernel/x402/payload.ts';

/** How it behaves. */
export type KmsMood = 'well' | 'high s' | 'another key' | 'error' | 'hang' | 'nonsense';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const OTHER_KEY: Hex = `0x${'7'.repeat(64)}`;
const SPKI = '3056301006072a8648ce3d020106052b8104000a034200';

/** A running stand-in. */
export interface TestKms {
  readonly url: string;
  /** How many signatures were asked for. */
  asked(): number;
  mood: KmsMood;
  /** Runs while a signature is being made. */
  onSign: () => Promise<void>;
  close(): Promise<void>;
}

/** Starts it with a key. The caller closes it. */
export async function startKms(privateKey: Hex): Promise<TestKms> {
  let asked = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => void answer(Buffer.concat(parts).toString()).catch(() => response.destroy()));
    const answer = async (body: string): Promise<void> => {
      const isAws = request.headers['x-amz-target'] !== undefined;
      const isKey = isAws ? request.headers['x-amz-target'] === 'TrentService.GetPublicKey' : request.url?.endsWith('/publicKey');
      const given = body === '' ? {} : JSON.parse(body);
      response.setHeader('content-type', isAws ? 'application/x-amz-json-1.1' : 'application/json');
      if (isKey) return void response.end(JSON.stringify(publicKeyOf(privateKey)));
      asked += 1;
      await kms.onSign();
      if (kms.mood === 'hang') await sleep(10_000, undefined, { ref: false });
      if (kms.mood === 'error') return void response.writeHead(500).end('{"__type":"KMSInternalException"}');
      const digest: string = isAws ? given.Message : given.digest.sha256;
      const text = (await derOf(kms.mood, privateKey, Buffer.from(digest, 'base64'))).toString('base64');
      response.end(JSON.stringify(isAws ? { Signature: text } : { signature: text }));
    };
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const kms: TestKms = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    mood: 'well',
    onSign: async () => undefined,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return kms;
}

function publicKeyOf(privateKey: Hex): { readonly PublicKey: string; readonly pem: string } {
  const der = Buffer.from(SPKI + privateKeyToAccount(privateKey).publicKey.slice(2), 'hex').toString('base64');
  return { PublicKey: der, pem: `-----BEGIN PUBLIC KEY-----\n${der}\n-----END PUBLIC KEY-----\n` };
}

async function derOf(mood: KmsMood, privateKey: Hex, digest: Buffer): Promise<Buffer> {
  if (mood === 'nonsense') return Buffer.from('not a signature');
  const { r, s } = await sign({
    hash: `0x${digest.toString('hex')}`,
    privateKey: mood === 'another key' ? OTHER_KEY : privateKey,
  });
  const body = Buffer.concat([integer(BigInt(r)), integer(mood === 'high s' ? ORDER - BigInt(s) : BigInt(s))]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}

function integer(value: bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  const padded = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  return Buffer.concat([Buffer.from([0x02, padded.length]), padded]);
}
