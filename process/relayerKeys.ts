import type { Metrics } from '../modules/kernel/metrics.ts';
import type { RelayerKey } from '../modules/settlement/use/deps.ts';
import type { Signer } from '../platform/chain/signature/signer.ts';
import { localSigner, openRemoteSigner } from '../platform/chain/signature/signer.ts';
import { openAwsKey } from '../platform/kms/aws.ts';
import { openGcpKey } from '../platform/kms/gcp.ts';
import type { Config } from './config.ts';

/** The relayer keys of every network, opened. Throws SignerError for a key of a service that cannot sign: the process must not start. */
export async function openRelayerKeys(
  { relayerPrivateKeys: names }: { readonly relayerPrivateKeys?: Config['relayerPrivateKeys'] },
  metrics?: Metrics,
): Promise<ReadonlyMap<string, readonly RelayerKey[]>> {
  const opened = new Map<string, readonly RelayerKey[]>();
  for (const [network, keys] of Object.entries(names ?? {})) {
    const signers = await Promise.all(keys.map((name) => openKey(name, metrics)));
    if (new Set(signers.map(({ address }) => address)).size < signers.length) {
      throw new Error(`RELAYER_PRIVATE_KEYS names one key twice for ${network}: two queues would share its nonces`);
    }
    opened.set(network, signers);
  }
  return opened;
}

async function openKey(name: string, metrics?: Metrics): Promise<Signer> {
  if (name.startsWith('0x')) return localSigner(name as `0x${string}`);
  const [service = '', ...rest] = name.split(':');
  const id = rest.join(':');
  const key = service === 'aws-kms' ? await openAwsKey(id) : await openGcpKey(id);
  return openRemoteSigner(key, (ms, isSigned) =>
    metrics?.record('svc.relayer.sign_duration', ms, { service, outcome: isSigned ? 'signed' : 'failed' }),
  );
}
