import { parseAbi } from 'viem/utils';

/** LegSplit, the code behind every split; only the router may call `push`. */
export const splitAbi = parseAbi([
  'constructor()',
  'function ROUTER() view returns (address)',
  'function push(address token, bytes32[] legs, uint256[] amounts)',
  'error OnlyRouter()',
  'error SafeERC20FailedOperation(address token)',
]);

/** What anyone may do with the test USDC of the sandbox and the tests, beside `tokenAbi`. */
export const testTokenAbi = parseAbi([
  'function mint(address to, uint256 value)',
  'function blacklist(address account)',
  'function unBlacklist(address account)',
  'function pause()',
  'function unpause()',
]);
