/**
 * Typed ABIs of the contracts we call: our router and split (a test compares them with the compiled artifacts), the EIP-3009
 * token, Multicall3.
 */
import { parseAbi } from 'viem/utils';

/** SplitRouter: no owner, no storage; settles groups of signed payments. */
export const routerAbi = parseAbi([
  'struct Auth { address from; uint256 value; uint256 validAfter; uint256 validBefore; bytes32 nonce; bytes signature; }',
  'struct Group { address token; uint256 authGas; bytes32[] legs; Auth[] auths; }',
  'constructor()',
  'function IMPLEMENTATION() view returns (address)',
  'function splitOf(bytes32[] legs) view returns (address payTo)',
  'function settleGroup(uint256 index, Group group) returns (uint256 pulled)',
  'function settleBatch(Group[] groups, uint256[] gasPerGroup)',
  'function flushAll(address token, bytes32[] legs) returns (uint256 total)',
  'function flushAround(address token, bytes32[] legs) returns (uint256 total)',
  'function waitingOf(address wallet) view returns (address)',
  'event Paid(address indexed payTo, address indexed token, uint256 total)',
  'event ItemFailed(uint256 indexed group, uint256 indexed item, bytes4 why)',
  'event GroupFailed(uint256 indexed group, bytes4 why)',
  'error NotEnoughGas()',
  'error NotASplit()',
  'error PayerIsPayTo()',
  'error LengthMismatch()',
  'error NotCanonical(uint256 index)',
  'error BalanceMismatch(uint256 expected, uint256 actual)',
  'error FailedDeployment()',
  'error InsufficientBalance(uint256 balance, uint256 needed)',
]);

/** What we call and read of an EIP-3009 token such as USDC v2.2; the `bytes` overload serves keys and ERC-1271 wallets. */
export const tokenAbi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function decimals() view returns (uint8)',
  'function balanceOf(address account) view returns (uint256)',
  'function transfer(address to, uint256 value) returns (bool)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
]);

/** The part of Multicall3 we use. */
export const multicall3Abi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
  'function getBlockNumber() view returns (uint256 blockNumber)',
  'function getCurrentBlockTimestamp() view returns (uint256 timestamp)',
]);

/** The part of Arbitrum's ArbSys precompile we use. */
export const arbSysAbi = parseAbi(['function arbBlockNumber() view returns (uint256 blockNumber)']);
