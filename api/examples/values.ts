/** Values that stand for the same thing in every example of the API description. */

export const HOST = 'news.example';
export const RESOURCE = 'https://news.example/articles/three-hands';
export const SLUG = 'three-hands';
export const NOW_MS = 1_795_341_600_000;
export const TENANT_ID = '5f0c1b6e-6d3a-4c55-9a4e-2f8d1f3f7c10';
export const LICENCE_ID = '8a4cbb1e-0f8c-4a0d-9d7e-3a1f5f1e2c44';
export const PAYER = '0x2f1d3c5b7a9e8d6c4b2a1f0e9d8c7b6a5f4e3d2c';
export const [ANN, BOB, CYD] = ['a1', 'b2', 'c3'].map((digits) => `0x${digits.repeat(20)}`) as [string, string, string];
export const PAY_TO = '0x6d5c4b3a291807f6e5d4c3b2a19087f6e5d4c3b2';
export const ASSET = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
export const TRANSACTION = `0x${'7e'.repeat(32)}`;
export const LEGS = [
  { toAddress: ANN, amountMicro: 500 },
  { toAddress: BOB, amountMicro: 300 },
  { toAddress: CYD, amountMicro: 200 },
];
export const WINDOW = { from: NOW_MS - 30 * 86_400_000, to: NOW_MS };
/** A JWS cut short: the form, not a token. */
export const JWS = 'eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCIsImtpZCI6Ii4uLiJ9.eyJpc3MiOiIuLi4ifQ.c2lnbmF0dXJl';
