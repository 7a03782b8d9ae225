/** Packages with native code, without the JavaScript they fall back to: twenty times slower at every payment, and nobody would notice. */
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The native half of a package. Throws an Error that says what to do where it has none for this machine: no process starts then. */
export function requireNative<T>(name: 'keccak' | 'secp256k1'): T {
  try {
    return require(`${name}/bindings.js`) as T;
  } catch (cause) {
    const machine = `${process.platform}-${process.arch}`;
    const advice = 'install python3, make and a C++ compiler and run `npm rebuild keccak secp256k1`';
    throw new Error(`the package ${name} has no native code for ${machine}: ${advice}`, { cause });
  }
}
