/** A secp256k1 key of AWS KMS (ECC_SECG_P256K1, SIGN_VERIFY), named by its ARN; credentials come as the SDK finds them. */

/** What of the SDK's errors is no use to repeat: the SDK does so itself, twice at most, with pauses. */
const MOST_ATTEMPTS = 2;

/** Opens the client; nothing is asked yet. `endpoint` in place of AWS's own. */
export async function openAwsKey(arn: string, options: { readonly endpoint?: string } = {}) {
  // Loaded where a key is named alone: the SDK costs every other start a tenth of a second.
  const { GetPublicKeyCommand, KMSClient, SignCommand } = await import('@aws-sdk/client-kms');
  const [, , , region] = arn.split(':');
  const client = new KMSClient({ ...options, region: region as string, maxAttempts: MOST_ATTEMPTS });
  return {
    publicKey: async (abortSignal: AbortSignal): Promise<Uint8Array> => {
      const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId: arn }), { abortSignal });
      return PublicKey ?? new Uint8Array();
    },
    sign: async (digest: Uint8Array, abortSignal: AbortSignal): Promise<Uint8Array> => {
      const asked = { KeyId: arn, Message: digest, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' } as const;
      const { Signature } = await client.send(new SignCommand(asked), { abortSignal });
      return Signature ?? new Uint8Array();
    },
  };
}
