/**
 * Compiles the contracts with the pinned solc. `node contracts/build.ts` writes contracts/artifacts/*.json (test contracts
 * under artifacts/test/); the output depends on the sources alone, so a test recompiles and compares.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const solc = require('solc') as { compile(input: string, options: { import(path: string): object }): string };

const FOLDER = import.meta.dirname;
/** Where committed artifacts live. */
export const ARTIFACTS_FOLDER = join(FOLDER, 'artifacts');

/** One compiled contract as committed. */
export interface Artifact {
  readonly contractName: string;
  readonly abi: readonly unknown[];
  readonly bytecode: `0x${string}`;
  readonly deployedBytecode: `0x${string}`;
}

interface SolcOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, SolcContract>>>>;
}
interface SolcContract {
  readonly abi: readonly unknown[];
  readonly evm: { readonly bytecode: { readonly object: string }; readonly deployedBytecode: { readonly object: string } };
}

const SETTINGS = {
  optimizer: { enabled: true, runs: 1_000_000 },
  viaIR: true,
  evmVersion: 'cancun',
  metadata: { bytecodeHash: 'none', appendCBOR: false },
  outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
};

/**
 * Compiles every contract of this folder: path of the artifact (relative to the artifacts folder) → its JSON text. Throws on
 * any solc error or warning.
 */
export function compileContracts(): ReadonlyMap<string, string> {
  const paths = [...solidityFiles(FOLDER, ''), ...solidityFiles(join(FOLDER, 'test'), 'test/')];
  const sources = Object.fromEntries(paths.map((path) => [path, { content: readFileSync(join(FOLDER, path), 'utf8') }]));
  const input = { language: 'Solidity', sources, settings: SETTINGS };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: readPackageSource })) as SolcOutput;
  const problems = output.errors ?? [];
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.formattedMessage).join('\n'));
  const artifacts = new Map<string, string>();
  for (const path of paths) {
    for (const [contractName, contract] of Object.entries(output.contracts?.[path] ?? {})) {
      if (contract.evm.bytecode.object === '' || contractName === 'Legs') continue;
      artifacts.set(join(dirname(path), `${contractName}.json`), artifactText(contractName, contract));
    }
  }
  return artifacts;
}

function artifactText(contractName: string, { abi, evm }: SolcContract): string {
  const artifact: Artifact = {
    contractName,
    abi,
    bytecode: `0x${evm.bytecode.object}`,
    deployedBytecode: `0x${evm.deployedBytecode.object}`,
  };
  return `${JSON.stringify(artifact, null, 2)}\n`;
}

function solidityFiles(folder: string, prefix: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sol'))
    .sort()
    .map((name) => prefix + name);
}

function readPackageSource(path: string): object {
  return { contents: readFileSync(require.resolve(path), 'utf8') };
}

function writeArtifacts(): void {
  const compiled = compileContracts();
  rmSync(ARTIFACTS_FOLDER, { recursive: true, force: true });
  for (const [path, text] of compiled) {
    mkdirSync(dirname(join(ARTIFACTS_FOLDER, path)), { recursive: true });
    writeFileSync(join(ARTIFACTS_FOLDER, path), text);
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) writeArtifacts();
