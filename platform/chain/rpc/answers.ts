/** The shape that a method's answers have, checked once, where an answer comes in, so that its readers can rely on it. Pure. */

type Check = (value: unknown, params: readonly unknown[]) => boolean;

/** A number in hex of at most so many digits, however many zeros stand before them. */
function quantityOf(digits: number): Check {
  const pattern = new RegExp(`^0x0*[0-9a-f]{1,${digits}}$`, 'i');
  return (value) => typeof value === 'string' && value.length <= 66 && pattern.test(value);
}
const bytesOf =
  (count: number): Check =>
  (value) =>
    typeof value === 'string' && value.length === 2 + 2 * count && isBytes(value, []);

/** Whole bytes in hex, as many as there are. */
const isBytes: Check = (value) =>
  typeof value === 'string' && value.length % 2 === 0 && value.startsWith('0x') && !/[^0-9a-f]/i.test(value.slice(2));
const isHash = bytesOf(32);
const isAddress = bytesOf(20);
/** Blocks, transactions and gas: what a Number holds exactly. */
const isCount = quantityOf(13);
/** Epoch seconds that a Date can hold. */
const isTime = quantityOf(10);
/** The place of a log in its block. */
const isIndex = quantityOf(7);
/** A price or a fee in wei. */
const isFee = quantityOf(24);
const isAmount = quantityOf(64);

const shape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' && value !== null && Object.entries(fields).every(([name, is]) => is(Reflect.get(value, name), []));
const listOf =
  (is: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((one) => is(one, []));
const maybe =
  (is: Check): Check =>
  (value) =>
    value === undefined || value === null || is(value, []);

const isLog = shape({
  ...{ address: isAddress, topics: listOf(isHash), data: isBytes, transactionHash: isHash },
  ...{ logIndex: isIndex, blockNumber: isCount, blockHash: isHash },
});
const isMinedReceipt = shape({
  ...{ transactionHash: isHash, status: isCount, blockNumber: isCount, blockHash: isHash, gasUsed: isCount },
  ...{ effectiveGasPrice: maybe(isFee), l1Fee: maybe(isFee), logs: listOf(isLog) },
});
const isHeader = shape({ number: isCount, hash: isHash, timestamp: isTime, baseFeePerGas: maybe(isFee) });
const isBlockOfTransactions = shape({
  transactions: listOf(shape({ hash: isHash, from: isAddress, nonce: isCount, input: isBytes })),
});

interface Place {
  readonly transactionHash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
}

/** A receipt of the transaction that was asked for, with its own logs and no others: under another hash it could not be compared. */
const isReceipt: Check = (value, [hash]) => {
  if (value === null || isUnmined(value)) return true;
  if (!isMinedReceipt(value, [])) return false;
  const receipt = value as Place & { readonly logs: readonly Place[] };
  const isOfReceipt = (log: Place): boolean =>
    isSame(log.transactionHash, hash) &&
    isSame(log.blockHash, receipt.blockHash) &&
    BigInt(log.blockNumber) === BigInt(receipt.blockNumber);
  return isSame(receipt.transactionHash, hash) && receipt.logs.every(isOfReceipt);
};

function isUnmined(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, 'blockNumber') === null;
}

function isSame(hash: string, other: unknown): boolean {
  return typeof other === 'string' && hash.toLowerCase() === other.toLowerCase();
}

const isBlock: Check = (value, [, isWhole]) =>
  value === null || (isHeader(value, []) && (isWhole !== true || isBlockOfTransactions(value, [])));

const CHECKS: ReadonlyMap<string, Check> = new Map([
  ['eth_blockNumber', isCount],
  ['eth_call', isBytes],
  ['eth_chainId', isCount],
  ['eth_estimateGas', isCount],
  ['eth_getBalance', isAmount],
  ['eth_getBlockByNumber', isBlock],
  ['eth_getCode', isBytes],
  ['eth_getLogs', listOf(isLog)],
  ['eth_getTransactionCount', isCount],
  ['eth_getTransactionReceipt', isReceipt],
  ['eth_sendRawTransaction', isHash],
]);

/** True where an answer can be read as one of its method; of a method that is not ours to read, any can. */
export function isReadable(method: string, params: readonly unknown[], answer: unknown): boolean {
  return CHECKS.get(method)?.(answer, params) ?? true;
}
